"""The test split and its submission file for the authors' server.

Its answers are hidden. Nothing here is scored.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import EvaluationStep, evaluation_assets
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation import pipeline
from bench_assets.suites.blink.scoring import FAILED
from bench_assets.suites.blink.settings import BlinkSettings
from bench_assets.suites.blink.task import TASK
from resources.config.settings_resource import SettingsResource
from resources.tables.parquet import TableFiles, table_output


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedOption:
    """What a model is taken to answer to one question."""

    idx: str  # the authors' id: "test_Jigsaw_12"
    option: str  # "(A)", or "(Z)" if none was read


_TEST = EvaluationStep(TASK, split="test")

HIDDEN_ASSETS = evaluation_assets(TASK, split="test")


@dg.asset(ins=_TEST.ins("questions", "predictions", "judgements"), **_TEST.stage("predictions"))
def submission(
    context: dg.AssetExecutionContext,
    settings: SettingsResource,
    tables: TableFiles,
    questions: list[Question],
    predictions: list[Prediction],
    judgements: list[Judgement],
) -> dg.Output[list[SubmittedOption]]:
    """Read the responses, and write the options as a file to submit.

    One row: the option that is read out of one test response, or "(Z)". The file has all of them as
    one JSON object, {"test_Art_Style_1": "(A)"}, and lies in `export/`.
    """
    reading = settings.load().suite("blink", BlinkSettings).reading
    rows = submitted_options(questions, predictions, judgements, reading)
    name = f"blink_test_{quote(context.partition_key, safe='@+=')}.json"
    written = json.dumps({row.idx: row.option for row in rows}, indent=4) + "\n"
    tables.export.put(name, written.encode())
    return table_output(rows, {"file": dg.MetadataValue.path(tables.export.named(name))})


def submitted_options(
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    reading: str = "",
) -> list[SubmittedOption]:
    """Read the option out of every response, by the named reading or the default one.

    Raises:
        ModelError: If a response or the judge's word on it is missing: a hole is no "(Z)".
    """
    rows = pipeline.score(TASK, questions, predictions, judgements, reading)
    if lost := [row for row in rows if row.points is None]:
        why = lost[0].error or lost[0].note
        raise ModelError(
            f"{len(lost)} of {len(rows)} test questions have no response or no word of the "
            f"judge, for "
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
