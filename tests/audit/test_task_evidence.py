"""The mini edition of every suite: nothing is found in it."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.audit.registry import audit_task
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.core.schema.rows import Question
from bench_assets.suites.codis.task import TASK as CODIS
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.audit.held import TASK, Held, failed

SUITES = ("blink", "codis", "cogbench", "journeybench", "multi")


def held_of(evidence: TaskEvidence) -> Held:
    """The questions and images of a home, in memory."""
    images = list(dict.fromkeys(image for one in evidence.questions for image in one.images))
    return Held(
        task=replace(TASK, name=evidence.task.name),
        questions=evidence.questions,
        images={image: evidence.open_image(image) for image in images},
        hashes=evidence.image_hashes(images),
        stored=evidence.stored,
    )


@pytest.fixture(scope="module")
def minis(tmp_path_factory) -> Mapping[str, Held]:
    """Task -> what is held of its mini edition."""
    home = load_settings(tmp_path_factory.mktemp("home"))
    with Workbench(home, SUITES) as bench:
        for suite in SUITES:
            bench.refresh_questions(suite)
        image_store = ImageStore(folder=str(bench.settings.home / "images"))
        tasks = [task for task in bench.catalog.tasks if task.asked_of == "model"]
        gathered = [TaskEvidence(task, bench.tables, image_store) for task in tasks]
        assert all(bench.tables.read(questions_key(task, "main"), Question) for task in tasks)
        return {one.task.name: held_of(one) for one in gathered}


@pytest.mark.long
def test_nothing_is_found_in_any_of_them(minis):
    assert {name: failed(held) for name, held in minis.items() if failed(held)} == {}


def test_what_could_not_be_looked_at_for_damage_does_not_pass(tmp_path):
    tables = TableFiles(folder=str(tmp_path / "tables"))
    damaged = TaskEvidence(CODIS, tables, ImageStore(folder=str(tmp_path / "images")))
    tables.path(["codis", "questions"]).parent.mkdir(parents=True)
    tables.path(["codis", "questions"]).write_bytes(b"PAR1")
    rows = {row.check: row for row in audit_task(damaged)}
    assert not rows["one_answer"].passed
    assert rows["one_answer"].sentence.startswith("Cannot be examined: ")
