"""Studies of BLINK (section 4.3, appendix C)."""

import base64
from collections.abc import Sequence
from dataclasses import replace

import dagster as dg

from bench_assets.annotation.answers.resolution import last_said
from bench_assets.asset_factory.annotation_inputs import answers_key, heard
from bench_assets.asset_factory.suite_assets import MODELS, AssetFolder
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature, short
from bench_assets.evaluation import pipeline
from bench_assets.suites.blink.annotation import HUMAN
from bench_assets.suites.blink.settings import BlinkSettings
from bench_assets.suites.blink.studies.human_score import (
    HumanAnswer,
    HumanScore,
    human_scores,
    read_answers,
)
from bench_assets.suites.blink.studies.mistakes import CommonMistakes, Mistake, sample_mistakes
from bench_assets.suites.blink.studies.mistakes import common_mistakes as count_common
from bench_assets.suites.blink.studies.profile import TaskAccuracy, bars, radar, task_accuracies
from bench_assets.suites.blink.studies.self_consistency import majority_votes
from bench_assets.suites.blink.task import TASK
from resources.config.settings_resource import SettingsResource
from resources.images.previews import mistakes_preview
from resources.images.store import ImageStore
from resources.tables.parquet import TableFiles, table_output

_BLINK = AssetFolder("blink", str(TASK.version))
_OF_A_MODEL = _BLINK.stage("metrics", ablation=True, partitions=MODELS)
_SCORES = ["blink", "scores"]
_METRICS = ["blink", "metrics"]
_SHOWN = 14  # mistakes that are shown with their images


@dg.asset(ins=_BLINK.ins("metrics"), **_BLINK.stage("metrics", partitions=MODELS))
def profile(
    context: dg.AssetExecutionContext, metrics: list[Metric]
) -> dg.Output[list[TaskAccuracy]]:
    """Draw a model's accuracies as a radar and as bars.

    One row: accuracy and chance of one of the 14 tasks (Figure 4). The images are metadata of
    each materialization.
    """
    rows = task_accuracies(metrics)
    name = context.partition_key
    return table_output(
        rows, {"radar": _image(radar(rows, name)), "bars": _image(bars(rows, name))}
    )


@dg.asset(
    ins=_BLINK.ins(
        "questions", predictions="self_consistency/predictions", scores="self_consistency/scores"
    ),
    **_OF_A_MODEL,
)
def majority_vote(
    questions: list[Question], predictions: list[Prediction], scores: list[Score]
) -> dg.Output[list[Metric]]:
    """Compare the majority of five runs with single runs.

    One row: the accuracy over all tasks or in one of them, of the majority vote or of the mean of
    single runs (appendix C.3: 48.38 against 38.15 % for GPT-4V).
    """
    voted = majority_votes(questions, scores)
    return table_output(
        [
            *_accuracies("majority_vote", questions, predictions, voted),
            *_accuracies("single_run", questions, predictions, scores),
        ]
    )


@dg.asset(ins=_BLINK.ins("questions", "predictions", "scores"), **_OF_A_MODEL)
def mistakes(
    settings: SettingsResource,
    image_store: ImageStore,
    questions: list[Question],
    predictions: list[Prediction],
    scores: list[Score],
) -> dg.Output[list[Mistake]]:
    """Draw mistakes for reading.

    One row: one wrong answer with the response it was read from; the paper reads 10 of each task,
    140 in all (section 4.3). Some are shown with their images.
    """
    chosen = settings.load().suite("blink", BlinkSettings)
    rows = sample_mistakes(
        questions, predictions, scores, per_task=chosen.mistakes_per_task, seed=chosen.seed
    )
    drawn = {row.question_id for row in rows}
    wrong = [row for row in scores if row.question_id in drawn]
    return table_output(
        rows, mistakes_preview(questions, predictions, [], wrong, image_store, n=_SHOWN)
    )


# It gathers models, so it is refreshed when the leaderboard is.
@dg.asset(
    deps=[_BLINK.key("scores"), _BLINK.key("metrics")],
    **(_BLINK.stage("metrics") | {"group_name": "leaderboard"}),
)
def common_mistakes(tables: TableFiles) -> dg.Output[list[CommonMistakes]]:
    """Count what pairs of models get wrong together.

    One row: two models that were scored on the questions as they are now, with the numbers of
    their mistakes and of those they share (appendix C.2).
    """
    now = short(tables.digest(["blink", "questions"]) or "no questions")
    scores = {
        model: tables.read(_SCORES, Score, model)
        for model in tables.partitions(_METRICS)
        if any(now == row.questions for row in tables.read(_METRICS, Metric, model))
    }
    return table_output(count_common(scores))


@dg.asset(
    ins=_BLINK.ins("questions"),
    deps=[answers_key(HUMAN)],
    **_BLINK.stage("metrics", ablation=True),
)
def human_score(
    context: dg.AssetExecutionContext,
    settings: SettingsResource,
    tables: TableFiles,
    questions: list[Question],
) -> dg.Output[list[HumanScore]]:
    """Score the people who answered.

    One row: the accuracy of people in one task, or the mean of tasks (Table 1, appendix A.4), from
    the file that `human_answers` names in [suites.blink] of bench.toml and from the answers to
    `blink/human`; empty if there are none. A file that cannot be used leaves it empty too, and is
    said to: no model's evaluation needs it.
    """
    configured = settings.load()
    file = configured.suite("blink", BlinkSettings).human_answers
    rows: list[HumanScore] = []
    try:
        written = read_answers(configured.resolve(file)) if file else []
        said: list[HumanAnswer] = heard(tables, HUMAN)
        answers = last_said([*written, *said], lambda one: (one.question_id, one.person))
        rows = human_scores(questions, answers)
    except SourceError as why:
        context.log.warning(f"human_answers of [suites.blink] is left out: {why}")
        return table_output(rows, {"fault": dg.MetadataValue.text(str(why))})
    return table_output(rows)


def _image(svg: str) -> dg.MetadataValue:
    data = base64.b64encode(svg.encode()).decode()
    return dg.MetadataValue.md(f"![image](data:image/svg+xml;base64,{data})")


def _accuracies(
    name: str,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    scores: Sequence[Score],
) -> list[Metric]:
    return [
        replace(row, metric=name, signature=str(Signature.parse(row.signature).plus(**{name: ""})))
        for row in pipeline.summarise(TASK, questions, predictions, scores)
        if row.metric == TASK.primary_metric
    ]
