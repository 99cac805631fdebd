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
    with Workbench(load_settings(home), ["blink"]) as workbench:
        workbench.refresh_questions("blink")
        yield workbench


@pytest.mark.long
def test_images_are_joined_by_the_first_evaluation_of_their_condition(bench):
    assert not bench.tables.exists(["blink", "concatenated_images", "questions"])
    bench.evaluate(["blink"], "sure", "concatenated_images")
    (question,) = bench.questions(TASK, "concatenated_images")
    assert len(question.images) == 1
    assert bench.instance.get_runs_count() == 3  # the suite, the images, the evaluation

    bench.evaluate(["blink"], "sure", "concatenated_images")
    assert bench.instance.get_runs_count() == 3
