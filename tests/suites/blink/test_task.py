"""The images of a condition that are made when it is asked for, and not before."""

import pytest

from bench_assets.suites.blink.task import TASK
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.blink_release import JIGSAW, row, write_parquet


@pytest.fixture
def bench(tmp_path):
    write_parquet(tmp_path / "release", "Jigsaw", "val", [row("val_Jigsaw_1", **JIGSAW)])
    home = tmp_path / "home"
    home.mkdir()
    (home / "bench.toml").write_text(
        f'[sources]\nblink = "{tmp_path / "release"}"\n'
        '[models.sure]\nkind = "scripted"\nsays = "(A)"\n'
    )
    with Workbench(load_settings(home), ["blink"]) as opened:
        opened.refresh_questions("blink")
        yield opened


def is_made(bench):
    return bench.tables.exists(["blink", "concatenated_images", "questions"])


@pytest.mark.long
def test_evaluating_the_condition_joins_images_once_and_building_the_suite_none(bench):
    assert not is_made(bench)
    for _ in range(2):
        bench.evaluate(["blink"], "sure", "concatenated_images")
        (joined,) = bench.questions(TASK, "concatenated_images")
        assert len(joined.images) == 1
        runs = bench.instance.get_runs_count()
    assert runs == 3  # the suite, the images, and an evaluation: the second finds it made


# BLINK's questions as a plain file.
