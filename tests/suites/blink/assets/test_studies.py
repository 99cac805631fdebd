"""BLINK as a graph: what reaches the tables on each route."""

import json

import dagster as dg
import pytest
from typer.testing import CliRunner

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.cli.main import app
from bench_assets.core.schema.rows import ImageText, Metric, Question, Rejection
from bench_assets.suites.blink.assets import ablations, studies
from bench_assets.suites.blink.assets import questions as assets
from bench_assets.suites.blink.assets.studies import SubmittedOption
from bench_assets.suites.blink.task import TASK
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import tables_of
from tests.fakes.blink_release import JIGSAW, png, row, write_parquet
from tests.fakes.home import Home

LEFT_HALF = dg.load_assets_from_modules([assets, ablations])
OF_A_MODEL = [
    *dg.load_assets_from_modules([studies]),
    *evaluation_assets(TASK),
    *evaluation_assets(TASK, "self_consistency"),
]
RESPONSES = ("(A)", "The answer is (B).", "none of them, I cannot tell")
SUBMITTED = ("(A)", "(B)", "(Z)")  # the authors' mark of a response without an option


class Bench(Home):
    """BLINK over a home folder of its own."""

    def __init__(self, home, source, written=""):
        super().__init__(home, "blink", source, written)

    def build(self):
        return self.materialize(LEFT_HALF)

    def evaluate(self, model):
        of_a_model = dg.AssetSelection.tag("bench/per", "model")
        return self.materialize([*LEFT_HALF, *OF_A_MODEL], of_a_model, model)

    def questions(self, *below):
        return self.read(Question, *below, "questions")


@pytest.fixture
def release(tmp_path):
    """Two validation questions, one of them with three images, and three test questions."""
    folder = tmp_path / "release"
    write_parquet(folder, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    hidden = [row(f"test_Relative_Depth_{n}", answer="hidden") for n in (1, 2, 3)]
    write_parquet(folder, "Relative_Depth", "test", hidden)
    write_parquet(folder, "Jigsaw", "val", [row("val_Jigsaw_1", **JIGSAW)])
    return folder


def test_a_release_becomes_questions_with_its_images_in_the_store_and_joined(tmp_path, release):
    bench = Bench(tmp_path / "home", release)
    bench.build()
    depth, jigsaw = bench.questions()
    assert (depth.question_id, jigsaw.answer) == ("blink/val_Relative_Depth_1", ("A",))
    stored = [bench.images.read(image) for image in jigsaw.images]
    assert stored == [JIGSAW[f"image_{n}"]["bytes"] for n in (1, 2, 3)]
    assert [question.question_id for question in bench.questions("test")] == [
        f"blink/test_Relative_Depth_{n}" for n in (1, 2, 3)
    ]
    (joined,) = bench.questions("concatenated_images")
    assert joined.question_id == "blink/val_Jigsaw_1"
    (image,) = joined.images
    assert bench.images.open(image).size == (30 + 10 + 10 + 10 + 10, 20)


def test_a_captioner_describes_every_image_and_its_words_stand_in_for_them(tmp_path, release):
    written = (
        '[suites.blink]\ncaptioner = "describer"\n'
        '[models.describer]\nkind = "scripted"\nsays = "a red dot"\n'
    )
    bench = Bench(tmp_path / "home", release, written)
    bench.build()
    assert len(bench.read(ImageText, "captions")) == 4
    depth, jigsaw = bench.questions("captions_for_images")
    assert (depth.image_texts, jigsaw.image_texts) == (("a red dot",), 3 * ("a red dot",))


@pytest.mark.long
def test_another_captioner_captions_anew(tmp_path, release, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    says = {"a": "a red dot", "b": "a blue dot"}
    models = "".join(f'[models.{m}]\nkind = "scripted"\nsays = "{s}"\n' for m, s in says.items())
    for model, text in says.items():
        (tmp_path / "bench.toml").write_text(
            f'[sources]\nblink = "{release}"\n[suites.blink]\ncaptioner = "{model}"\n{models}'
        )
        command = ["evaluate", "blink", "--model", "random", "--condition", "captions_for_images"]
        assert CliRunner().invoke(app, command).exit_code == 0
        captions = tables_of(load_settings(tmp_path)).read(["blink", "captions"], ImageText)
        assert {(caption.author, caption.text) for caption in captions} == {(model, text)}


def test_a_image_that_does_not_decode_is_named_by_file_row_and_column(tmp_path, release):
    broken = row("val_Relative_Depth_1", image_1={"bytes": png()[:-30], "path": "x"})
    write_parquet(release, "Relative_Depth", "val", [broken])
    bench = Bench(tmp_path / "home", release)
    bench.build()
    assert [question.question_id for question in bench.questions()] == ["blink/val_Jigsaw_1"]
    (rejection,) = (
        one for one in bench.read(Rejection, "rejections") if "does not decode" in one.reason
    )
    assert rejection.entry == "val_Relative_Depth_1"
    assert "row 1 (val_Relative_Depth_1), image_1: does not decode" in rejection.reason


def test_a_model_is_evaluated_and_submitted(tmp_path, release):
    bench = Bench(
        tmp_path / "home", release, '[models.sure]\nkind = "scripted"\nsays = "Answer: B"\n'
    )
    bench.build()
    assert bench.evaluate("sure").success
    metrics = bench.read(Metric, "metrics", model="sure")
    values = {(row.metric, row.category): row.value for row in metrics}
    assert values["accuracy", "all"] == 0.5
    assert values["accuracy", "Relative_Depth"] == 1.0
    votes = bench.read(Metric, "majority_vote", model="sure")
    both = {row.metric: (row.value, row.n_scored) for row in votes if row.category == "all"}
    assert both == {"majority_vote": (0.5, 2), "single_run": (0.5, 10)}
    options = bench.read(SubmittedOption, "test", "submission", model="sure")
    assert [row.option for row in options] == ["(B)"] * 3


pytestmark = pytest.mark.long


def export(*arguments):
    return CliRunner().invoke(app, ["export", "blink-submission", *map(str, arguments)])


def test_the_file_has_every_question_of_the_test_split_and_no_other(release, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    lines = [
        json.dumps({"question_id": f"blink/test_Relative_Depth_{n}", "text": text})
        for n, text in enumerate(RESPONSES, 1)
    ]
    (home / "all.jsonl").write_text("\n".join(lines))
    (home / "one.jsonl").write_text(lines[0])
    (home / "bench.toml").write_text(
        f'[sources]\nblink = "{release}"\n'
        '[models."org/m"]\nkind = "recorded"\nfile = "all.jsonl"\n'
        '[models.hole]\nkind = "recorded"\nfile = "one.jsonl"\n'
    )
    monkeypatch.setenv("BENCH_HOME", str(home))
    result = export("--model", "org/m", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    file = tmp_path / "out" / "blink_test_org%2Fm.json"
    assert str(file) in result.stdout
    assert json.loads(file.read_text(encoding="utf-8")) == {
        f"test_Relative_Depth_{n}": option for n, option in enumerate(SUBMITTED, 1)
    }
    hole = export("--model", "hole")  # a response that is missing is no "(Z)"
    assert hole.exit_code == 1
    assert not (home / "export" / "blink_test_hole.json").exists()
    nobody = export()
    assert nobody.exit_code == 1
    assert "name it with --model" in nobody.stderr
