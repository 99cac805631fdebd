from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.audit.python import audit
from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.runner import Runner, StoredResponses
from bench_assets.python_api.run import Run
from bench_resources.images.store import ImageStore
from tests.audit.memory_evidence import TASK
from tests.fakes.codis_release import image
from tests.fakes.rows import prediction, question


def build_run(task_name: str, folder: Path) -> Run:
    """A run on one question, whose image is in a store of its own and in no other."""
    store = ImageStore(folder=str(folder))
    digest = store.put(image(len(task_name)), "a.png").sha256
    runner = Runner(
        task=replace(TASK, name=task_name), responses=StoredResponses([prediction(text="x")])
    )
    evaluation = runner.run([question(images=(digest,))])
    return Run(model="m", evaluations=(evaluation,), image_store=store)


def test_images_are_those_of_the_run_on_the_task(tmp_path):
    runs = [build_run(name, tmp_path / name) for name in ("one", "third")]
    rows = [row for row in audit(runs) if row.check == "missing_images"]
    assert [(row.task, row.passed) for row in rows] == [("one", True), ("third", True)]


def test_runs_without_the_main_condition_are_refused(tmp_path):
    run = build_run("one", tmp_path)
    elsewhere = replace(run, evaluations=(replace(run.evaluations[0], condition="no_image"),))
    with pytest.raises(SettingsError, match="no run has the condition main"):
        audit(elsewhere)
