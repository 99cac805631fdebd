"""The test split: asked, read and written as the authors' evaluation server takes it.

Its answers are hidden. Nothing here is scored.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

import dagster as dg

from bench_assets import flow
from bench_assets.blink.scoring import FAILED, RULES
from bench_assets.blink.settings import BlinkSettings
from bench_assets.blink.task import TASK
from bench_assets.core.errors import ModelError
from bench_assets.core.rows import Judgement, Prediction, Question
from bench_assets.partitions import MODELS
from resources.models import Models
from resources.progress import AskingProgress
from resources.settings_file import SettingsFile
from resources.tables import TableFiles, table_output


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedOption:
    """What a model is taken to answer to one question."""

    idx: str  # the authors' id: "test_Jigsaw_12"
    option: str  # "(A)", or "(Z)" if none was read


class _Shared(TypedDict):
    key_prefix: list[str]
    group_name: str
    code_version: str
    partitions_def: dg.PartitionsDefinition[str]


_SHARED = _Shared(
    key_prefix=["blink", "test"],
    group_name="blink_ablations",
    code_version=str(TASK.version),
    partitions_def=MODELS,
)
_QUESTIONS = dg.AssetIn(["blink", "test", "questions"])
_PREDICTIONS = dg.AssetIn(["blink", "test", "predictions"])


@dg.asset(
    name="predictions",
    ins={"questions": _QUESTIONS},
    kinds={"gpu"},
    tags={"bench/stage": "predictions", "bench/per": "model"},
    pool="gpu",
    **_SHARED,
)
def hidden_predictions(
    context: dg.AssetExecutionContext, models: Models, questions: list[Question]
) -> dg.Output[list[Prediction]]:
    """Ask a model the test split, as for the published scores.

    One row: what a model replied to one test question; 1,906 in the release.
    """
    name = context.partition_key
    title = f"{name}: blink/test/predictions"
    with (
        AskingProgress(title, context.log.info, bar=models.show_progress) as progress,
        models.open(name, progress=progress, throughput=progress.throughput) as model,
    ):
        rows = flow.predict(TASK, questions, model)
    return table_output(rows, progress.metadata())


@dg.asset(
    name="judgements",
    ins={"questions": _QUESTIONS, "predictions": _PREDICTIONS},
    kinds={"llm"},
    tags={"bench/stage": "judgements", "bench/per": "model"},
    pool="judge",
    **_SHARED,
)
def hidden_judgements(
    context: dg.AssetExecutionContext,
    models: Models,
    settings: SettingsFile,
    questions: list[Question],
    predictions: list[Prediction],
) -> dg.Output[list[Judgement]]:
    """Ask the judge which option is meant where the rules read none.

    One row: the judge's word on one reply; its verdict says nothing, the answers are hidden.
    """
    judge = settings.load().suite("blink", BlinkSettings).judge
    if judge == RULES:
        return table_output(flow.judge(TASK, questions, predictions, None))
    title = f"{judge} reads {context.partition_key}: blink/test/judgements"
    with (
        AskingProgress(title, context.log.info, bar=models.show_progress) as progress,
        models.open(judge, progress=progress, throughput=progress.throughput) as model,
    ):
        rows = flow.judge(TASK, questions, predictions, model)
    return table_output(rows, progress.metadata())


@dg.asset(
    ins={
        "questions": _QUESTIONS,
        "predictions": _PREDICTIONS,
        "judgements": dg.AssetIn(["blink", "test", "judgements"]),
    },
    kinds={"python"},
    tags={"bench/stage": "predictions", "bench/per": "model"},
    **_SHARED,
)
def submission(
    context: dg.AssetExecutionContext,
    settings: SettingsFile,
    tables: TableFiles,
    questions: list[Question],
    predictions: list[Prediction],
    judgements: list[Judgement],
) -> dg.Output[list[SubmittedOption]]:
    """Read the replies, and write the options as a file to submit.

    One row: the option that is read out of one test reply, or "(Z)". The file has all of them as
    one JSON object, {"test_Art_Style_1": "(A)"}, and lies in `export/`.
    """
    reading = settings.load().suite("blink", BlinkSettings).reading
    rows = submitted_options(questions, predictions, judgements, reading)
    name = f"blink_test_{quote(context.partition_key, safe='@+=')}.json"
    file = Path(tables.folder).parent / "export" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f".{name}")
    unfinished.write_text(json.dumps({row.idx: row.option for row in rows}, indent=4) + "\n")
    unfinished.replace(file)
    return table_output(rows, {"file": dg.MetadataValue.path(file)})


def submitted_options(
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    reading: str = "",
) -> list[SubmittedOption]:
    """Read the option out of every reply, by the named reading or the default one.

    Raises:
        ModelError: If a reply or the judge's word on it is missing: a hole is no "(Z)".
    """
    rows = flow.score(TASK, questions, predictions, judgements, reading)
    if lost := [row for row in rows if row.points is None]:
        why = lost[0].error or lost[0].note
        raise ModelError(
            f"{len(lost)} of {len(rows)} test questions have no reply or no word of the judge, for "
            f"instance {lost[0].question_id}: {why}; materialize blink/test/predictions and "
            "judgements again to ask for just these"
        )
    return [
        SubmittedOption(
            idx=row.question_id.removeprefix("blink/"),
            option=f"({row.answer[0]})" if row.answer else FAILED,
        )
        for row in rows
    ]
