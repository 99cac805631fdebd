"""What MULTI compares, one model at a time (sections 4.5 and 4.7)."""

import dagster as dg

from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder
from bench_assets.core.schema.rows import Question, Score
from bench_assets.suites.multi.studies import CONDITIONS, InformationGain
from bench_assets.suites.multi.studies import information_gain as compare
from bench_assets.suites.multi.task import TASK
from resources.tables.parquet import TableFiles, table_output

_MULTI = AssetFolder("multi", str(TASK.version))
_SCORES = {
    condition: ["multi", *([] if condition == "main" else [condition]), "scores"]
    for condition in CONDITIONS
}


@dg.asset(
    ins=_MULTI.ins("questions"),
    deps=[dg.AssetKey(key) for key in _SCORES.values()],
    **_MULTI.stage("metrics", ablation=True, partitions=MODELS),
)
def information_gain(
    context: dg.AssetExecutionContext, tables: TableFiles, questions: list[Question]
) -> dg.Output[list[InformationGain]]:
    """Compare the conditions question by question.

    One row: how much a model gains by images, captions or recognised writing over nothing, for
    questions with one image and with several (Table 6), or by knowledge (Table 8).
    """
    model = context.partition_key
    scores = {name: tables.read(key, Score, model) for name, key in _SCORES.items()}
    rows = compare(questions, scores, model)
    gains = {f"gain/{row.condition}/{row.category}": row.gain for row in rows if row.n_questions}
    return table_output(rows, gains)
