"""What CODIS measures besides scores, one model at a time (sections 4.2, 5.2, 5.3, appendix A)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

import dagster as dg

from bench_assets import flow
from bench_assets.codis import agreement
from bench_assets.codis.settings import CodisSettings
from bench_assets.codis.task import TASK
from bench_assets.codis.variability import output_variability as variability
from bench_assets.codis.word_bias import WordCount
from bench_assets.codis.word_bias import word_bias as count_words
from bench_assets.core.rows import Judgement, Metric, Prediction, Question
from bench_assets.core.stats import mean
from bench_assets.core.tables import digest
from bench_assets.partitions import MODELS
from bench_assets.task import Answered
from resources.models import Models
from resources.progress import AskingProgress
from resources.settings_file import SettingsFile
from resources.tables import table_output


class _Shared(TypedDict):
    key_prefix: list[str]
    group_name: str
    partitions_def: dg.PartitionsDefinition[str]
    code_version: str
    tags: dict[str, str]


_SHARED = _Shared(
    key_prefix=["codis"],
    group_name="codis_ablations",
    partitions_def=MODELS,
    code_version=str(TASK.version),
    tags={"bench/stage": "metrics", "bench/per": "model"},
)
_QUESTIONS = dg.AssetIn(["codis", "questions"])
_PREDICTIONS = dg.AssetIn(["codis", "predictions"])


@dg.asset(
    ins={
        "questions": _QUESTIONS,
        "predictions": _PREDICTIONS,
        "without_context": dg.AssetIn(["codis", "no_context", "predictions"]),
    },
    kinds={"python"},
    description=(
        "One row: the share of queries, all or of one category, that a model answers differently "
        "when the context is taken away (section 4.2; the paper's Table 4 has 5 rows)."
    ),
    **_SHARED,
)
def output_variability(
    context: dg.AssetExecutionContext,
    questions: list[Question],
    predictions: list[Prediction],
    without_context: list[Prediction],
) -> dg.Output[list[Metric]]:
    """Compare the answers with and without context."""
    row = _row(context.partition_key, questions, predictions, "main~no_context|judge:none")
    slices: dict[str, list[Question]] = {"all": questions}
    for question in questions:
        slices.setdefault(question.category, []).append(question)
    rows = []
    for category, asked in slices.items():
        share = variability(asked, predictions, without_context)
        rows.append(
            replace(
                row,
                condition="no_context",
                metric="output_variability",
                category=category,
                n_failed=len(asked) - share.n_scored,
                **share._asdict(),
            )
        )
    return table_output(rows)


@dg.asset(
    ins={"questions": _QUESTIONS, "predictions": _PREDICTIONS},
    kinds={"python"},
    description=(
        "One row: how often a word is expected and how often a model says it, on the queries whose "
        "ground truth has the word or its opposite (section 5.2, Table 6: 3 pairs of words)."
    ),
    **_SHARED,
)
def word_bias(
    settings: SettingsFile, questions: list[Question], predictions: list[Prediction]
) -> dg.Output[list[WordCount]]:
    """Count the configured words in the final answers."""
    asked = {question.question_id: question for question in questions}
    answered = [Answered(asked[p.question_id], p) for p in predictions]
    word_pairs = settings.load().suite("codis", CodisSettings).word_pairs
    return table_output(count_words(answered, word_pairs))


@dg.asset(
    ins={
        "questions": _QUESTIONS,
        "predictions": _PREDICTIONS,
        "judgements": dg.AssetIn(["codis", "judgements"]),
    },
    kinds={"llm"},
    pool="judge",
    description=(
        "One row: how far the judge agrees with a second one or with people, or people among "
        "themselves (section 5.3, Table 7; appendix A, Table 8). Empty unless `second_judge` or "
        "`human_labels` is set in [suites.codis] of bench.toml."
    ),
    **_SHARED,
)
def judge_agreement(
    context: dg.AssetExecutionContext,
    settings: SettingsFile,
    models: Models,
    questions: list[Question],
    predictions: list[Prediction],
    judgements: list[Judgement],
) -> dg.Output[list[Metric]]:
    """Judge a second time, by a model or by people, and compare."""
    configured = settings.load()
    chosen = configured.suite("codis", CodisSettings)
    rows = []
    if chosen.second_judge:
        title = f"{chosen.second_judge} judges {context.partition_key} a second time"
        with AskingProgress(title, context.log.info, bar=models.show_progress) as progress:
            second = _judge(chosen.second_judge, models, progress, questions, predictions)
        rows.append(("agreement", chosen.second_judge, agreement.agreement(judgements, second)))
    if chosen.human_labels:
        file = configured.resolve(chosen.human_labels)
        labels = agreement.labels_of(context.partition_key, agreement.read_labels(file))
        people = agreement.judged_by_people(labels, predictions)
        rows.append(("agreement", agreement.PEOPLE, agreement.agreement(judgements, people)))
        if len({label.annotator for label in labels}) > 1:
            rows.append(("consistency", agreement.PEOPLE, agreement.consistency(labels)))
    first = judgements[0].judge if judgements else "none"
    return table_output(
        [
            replace(
                _row(context.partition_key, questions, predictions, f"main|judges:{first}~{other}"),
                metric=metric,
                **share._asdict(),
            )
            for metric, other, share in rows
        ]
    )


def _judge(
    name: str,
    models: Models,
    progress: AskingProgress,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> list[Judgement]:
    if name == "rules":
        return flow.judge(TASK, questions, predictions, None)
    with models.open(name, progress=progress) as judge:
        return flow.judge(TASK, questions, predictions, judge)


def _row(
    model: str, questions: Sequence[Question], predictions: Sequence[Prediction], compared: str
) -> Metric:
    """A metric over nothing yet, with what all rows of a study share."""
    decoding = "+".join(sorted({p.decoding for p in predictions if p.decoding})) or "elsewhere"
    return Metric(
        task=TASK.name,
        model=model,
        condition="main",
        metric="",
        category="all",
        n_failed=sum(bool(p.error) for p in predictions),
        edition=questions[0].edition if questions else "",
        signature=(
            f"{TASK.name}|v{TASK.version}|{compared}|data:{digest(questions)[:12]}"
            f"|model:{decoding}|n:{len(questions)}"
        ),
        **mean([])._asdict(),
    )
