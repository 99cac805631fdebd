"""The run that a checkpoint's evaluation is asked as, carried out: its weights are loaded once."""

from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.suite_assets import MODELS
from bench_resources.checkpoints.identity import fingerprint
from bench_sensors.evaluations import EVALUATION_JOB, CheckpointEvaluation, run_requests
from tests.fakes.quiz import TASK, questions_asset, quiz, resources_over
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.sensors.watched import tables_of_suite

QUIZZES = [TASK, replace(TASK, name="riddles")]


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every time that weights are loaded, by folder."""
    from transformers import AutoModelForImageTextToText

    loaded, load = [], AutoModelForImageTextToText.from_pretrained

    def counted(folder, **options):
        loaded.append(str(folder))
        return load(folder, **options)

    monkeypatch.setattr(AutoModelForImageTextToText, "from_pretrained", counted)
    return loaded


@pytest.mark.long
def test_one_run_over_several_suites_loads_the_weights_once(
    tmp_path: Path, loads: list[str]
) -> None:
    folder = save_tiny_vlm(tmp_path / "runs" / "a" / "step-1")
    (tmp_path / "bench.toml").write_text(
        '[checkpoints]\nfolders = ["runs"]\nlike = "base"\n'
        '[models.base]\nkind = "transformers"\npath = "x"\nmax_tokens = 2\n'
    )
    assets = [asset for task in QUIZZES for asset in evaluation_assets(task)]
    defs = dg.Definitions(
        assets=[*assets, *(questions_asset(quiz(5), task.name) for task in QUIZZES)],
        jobs=[dg.define_asset_job(EVALUATION_JOB, assets)],
        executor=dg.in_process_executor,
        resources=resources_over(tmp_path),
    )
    checkpoint = f"a/step-1@{fingerprint(folder)}"
    wanted = CheckpointEvaluation(
        job=EVALUATION_JOB, checkpoint=checkpoint, suites=["quiz", "riddles"]
    )
    tables = {
        task.name: tables_of_suite(
            [task], [k for a in evaluation_assets(task) if a.partitions_def for k in a.keys]
        )
        for task in QUIZZES
    }
    (request,) = run_requests([wanted], tables, lambda _: True)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(MODELS.name), [checkpoint])
        for task in QUIZZES:
            defs.resolve_implicit_global_asset_job_def().execute_in_process(
                asset_selection=[dg.AssetKey([task.name, "questions"])], instance=instance
            )
        done = defs.resolve_job_def(EVALUATION_JOB).execute_in_process(
            instance=instance,
            partition_key=request.partition_key,
            asset_selection=request.asset_selection,
        )
    steps = [event.step_key for event in done.all_events if event.is_step_success]
    # All predictions come before anything that may load a judge in place of the model.
    assert sorted(steps[:2]) == ["quiz__predictions", "riddles__predictions"]
    assert len(steps) == 6
    assert loads == [str(folder)]
