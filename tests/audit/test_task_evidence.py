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
from tests.audit.memory_evidence import TASK, MemoryEvidence, failed_checks

SUITES = ("blink", "codis", "cogbench", "journeybench", "multi")


def load_evidence(evidence: TaskEvidence) -> MemoryEvidence:
    """Load the questions and images of a home into memory, without its responses."""
    images = list(dict.fromkeys(image for q in evidence.questions for image in q.images))
    return MemoryEvidence(
        task=replace(TASK, name=evidence.task.name),
        questions=evidence.questions,
        images={image: evidence.open_image(image) for image in images},
        hashes=evidence.image_hashes(images),
        image_names=evidence.image_names,
    )


@pytest.fixture(scope="module")
def mini_editions(tmp_path_factory) -> Mapping[str, MemoryEvidence]:
    """The evidence of the mini edition of every task that models answer."""
    home = load_settings(tmp_path_factory.mktemp("home"))
    with Workbench(home, SUITES) as bench:
        for suite in SUITES:
            bench.refresh_questions(suite)
        image_store = ImageStore(folder=str(bench.settings.home / "images"))
        tasks = [task for task in bench.catalog.tasks if task.asked_of == "model"]
        assert all(bench.tables.read(questions_key(task, "main"), Question) for task in tasks)
        return {
            task.name: load_evidence(TaskEvidence(task, bench.tables, image_store))
            for task in tasks
        }


@pytest.mark.long
def test_mini_editions_pass_every_check(mini_editions):
    failed = {name: failed_checks(evidence) for name, evidence in mini_editions.items()}
    assert failed
    assert {name: checks for name, checks in failed.items() if checks} == {}


def test_a_damaged_table_of_questions_fails_the_checks(tmp_path):
    tables = TableFiles(folder=str(tmp_path / "tables"))
    damaged = TaskEvidence(CODIS, tables, ImageStore(folder=str(tmp_path / "images")))
    tables.path(["codis", "questions"]).parent.mkdir(parents=True)
    tables.path(["codis", "questions"]).write_bytes(b"PAR1")
    rows = {row.check: row for row in audit_task(damaged)}
    assert not rows["one_answer"].passed
    assert rows["one_answer"].sentence.startswith("Cannot be examined: ")
