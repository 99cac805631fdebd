"""A task whose files cannot be read stops no other, and no other asks anything of them."""

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from resources.config.settings_resource import SettingsResource
from tests.suites.journeybench.release import write_release

HALLUCINATION = "journeybench/hallucination_vqa"


@pytest.fixture
def home(tmp_path):
    source = write_release(tmp_path / "source")
    (source / "t2i.jsonl").write_text("{")  # a file of retrieval's
    (tmp_path / "bench.toml").write_text(f'[sources]\njourneybench = "{source}"\n')
    return SettingsResource(home=str(tmp_path))


@pytest.mark.long
def test_one_task_alone_asks_nothing_of_the_others(home):
    with Workbench(home, ["journeybench"]) as bench:
        bench.refresh_questions(HALLUCINATION)
        assert len(bench.rows(f"{HALLUCINATION}/questions")) == 2


class OnlyHallucination(Workbench):
    """A home folder in which one task can be built."""

    def refresh_questions(self, suite):
        if suite != HALLUCINATION:
            raise SourceError(f"{suite}: t2i.jsonl, line 1: not JSON")


def test_where_a_suite_cannot_be_built_its_tasks_are_built_one_by_one(home):
    with OnlyHallucination(home, ["journeybench"]) as bench:
        bench.tables.path([*HALLUCINATION.split("/"), "questions"]).parent.mkdir(parents=True)
        bench.tables.path([*HALLUCINATION.split("/"), "questions"]).touch()
        built, failures = build_questions(bench, "journeybench")
        assert built == [HALLUCINATION]
        assert len(failures) == 1 + 4
        with pytest.raises(SourceError, match="line 1"):
            build_questions(bench, "journeybench/retrieval")
