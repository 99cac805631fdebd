"""What the question task measures besides the answers of models: those of people (Table 5)."""

from dataclasses import replace

import dagster as dg

from bench_assets.asset_factory.suite_assets import AssetFolder
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.evaluation.aggregation import blank_metric
from bench_assets.suites.cogbench.settings import CogbenchSettings
from bench_assets.suites.cogbench.vqa.scoring import human_accuracy, read_human_answers
from bench_assets.suites.cogbench.vqa.task import TASK
from resources.config.settings_resource import SettingsResource
from resources.tables.parquet import table_output

_HERE = AssetFolder(TASK.name, str(TASK.version))


# When asked: no file of answers stops the questions.
@dg.asset(ins=_HERE.ins("questions"), **_HERE.stage("metrics", ablation=True, when_asked=True))
def human(settings: SettingsResource, questions: list[Question]) -> dg.Output[list[Metric]]:
    """Score people's answers.

    One row: the accuracy of people in one category; the paper asked five. Empty unless
    `human_answers` is set in [suites.cogbench] of bench.toml.
    """
    configured = settings.load()
    chosen = configured.suite("cogbench", CogbenchSettings)
    if chosen.human_answers is None:
        return table_output([])
    answers = read_human_answers(configured.resolve(chosen.human_answers))
    people = len({answer.person for answer in answers})
    parts = {"people": str(people), "n": str(len(questions))}
    blank = blank_metric(TASK, questions, "people", parts, n_failed=0)
    return table_output(
        [
            replace(blank, metric=TASK.primary_metric, category=category, **found._asdict())
            for category, found in human_accuracy(questions, answers).items()
        ]
    )
