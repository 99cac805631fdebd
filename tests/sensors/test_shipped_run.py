"""The shipped checkpoints, copied in as a training run would write them: found, asked, compared."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.defs.checks.regression import regression_checks
from bench_assets.suites.journeybench.captioning.task import TASK as CAPTIONING
from bench_assets.suites.journeybench.synthetic.images import members
from bench_resources.images.store import ImageStore
from bench_sensors.checkpoints import watch_folders
from bench_sensors.evaluations import EVALUATION_JOB
from tests.conftest import CHECKOUT
from tests.fakes.quiz import TASK as QUIZ
from tests.fakes.quiz import questions_asset, resources_over
from tests.fakes.rows import question
from tests.sensors.watched import tables_of_suite, watching

SHIPPED = CHECKOUT / "resources" / "bench_resources" / "models" / "tiny_vlm"
LIKE = '[models.like]\nkind = "transformers"\npath = "x"\nmax_tokens = 40\nbatch_size = 60\n'

# Stands for the suite: does the caption name the animal?
ANIMALS = replace(
    QUIZ,
    name="codis",
    conditions={"main": CAPTIONING.condition("main")},
    scorers={
        "named": lambda answered, _: Score.of(
            answered.prediction,
            points=float(answered.question.answer[0] in answered.prediction.text.lower()),
        )
    },
)
MADE = {
    "codis": tables_of_suite(
        [ANIMALS], [key for asset in evaluation_assets(ANIMALS) for key in asset.keys]
    )
}


def images(image_store: ImageStore) -> Iterator[Question]:
    """Every image of JourneyBench's mini edition, drawn with a seed of its own."""
    for number, member in enumerate(members()):
        yield question(
            question_id=f"codis/{number}",
            group_id=f"{number}",
            text="Describe in one sentence what is unusual in the image.",
            answer=(member.words["subject"],),
            images=(image_store.put(member.draw(Random(number)), member.image).sha256,),
        )


def definitions(home: Path) -> dg.Definitions:
    """The quiz about animals, over a home folder."""
    image_store = ImageStore(folder=str(home / "images"))
    assets = evaluation_assets(ANIMALS)
    return dg.Definitions(
        assets=[*assets, questions_asset(list(images(image_store)), "codis")],
        asset_checks=regression_checks(ANIMALS),
        jobs=[dg.define_asset_job(EVALUATION_JOB, assets)],
        executor=dg.in_process_executor,
        resources=resources_over(home),
    )


@pytest.fixture
def curve(tmp_path: Path) -> dict[str, dg.ExecuteInProcessResult]:
    """What the sensor's runs made of each step, in the order of training."""
    shutil.copytree(SHIPPED, tmp_path / "runs")
    settings = watching(tmp_path / "home", f'like = "like"\n{LIKE}')
    defs = definitions(tmp_path / "home")
    with dg.DagsterInstance.ephemeral() as instance:
        defs.resolve_implicit_global_asset_job_def().execute_in_process(
            asset_selection=[dg.AssetKey(["codis", "questions"])], instance=instance
        )
        tick = watch_folders(instance, settings, MADE, None, time.time() + 1)
        (added,) = tick.dynamic_partitions_requests or ()
        instance.add_dynamic_partitions(str(MODELS.name), list(added.partition_keys))
        return {
            str(request.partition_key).partition("@")[0]: defs.resolve_job_def(
                EVALUATION_JOB
            ).execute_in_process(
                instance=instance,
                partition_key=request.partition_key,
                asset_selection=request.asset_selection,
            )
            for request in tick.run_requests or ()
        }


@pytest.mark.long
def test_the_run_that_ships_is_a_curve(curve: dict[str, dg.ExecuteInProcessResult]) -> None:
    assert list(curve) == [f"run-1/{folder.name}" for folder in sorted(SHIPPED.glob("*/step-*"))]
    accuracy = [_accuracy(done) for done in curve.values()]
    assert accuracy[0] + 0.2 < min(accuracy[1:])  # ten animals: chance is 0.1
    (check,) = list(curve.values())[-1].get_asset_check_evaluations()
    assert check.passed
    assert "run-1/step-" in str(check.metadata["comparisons"].value)


def _accuracy(done: dg.ExecuteInProcessResult) -> float:
    rows: list[Metric] = done.output_for_node("codis__metrics")
    return rows[0].value
