import json
from dataclasses import replace

import dagster as dg
import pytest
from typer.testing import CliRunner

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.cli.main import app
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import ImageText, Metric, Question, Rejection, Score
from bench_assets.suites.blink.assets import ablations, studies
from bench_assets.suites.blink.assets import questions as assets
from bench_assets.suites.blink.assets.studies import SubmittedOption, submitted_options
from bench_assets.suites.blink.task import TASK
from bench_resources.config.bench_toml import load_settings
from bench_resources.datasets.source_files import tables_of
from tests.fakes.blink_release import JIGSAW, row, write_parquet
from tests.fakes.home import Home
from tests.fakes.written_images import plain_png

pytestmark = pytest.mark.long

LEFT_HALF = dg.load_assets_from_modules([assets, ablations])
MODEL_ASSETS = [
    *dg.load_assets_from_modules([studies]),
    *evaluation_assets(TASK),
    *evaluation_assets(TASK, "self_consistency"),
]
RESPONSES = ("(A)", "The answer is (B).", "none of them, I cannot tell")
SUBMITTED = ("(A)", "(B)", "(Z)")  # the authors' mark of a response without an option


class Bench(Home):
    def __init__(self, home, source, toml=""):
        super().__init__(home, "blink", source, toml)

    def build(self):
        return self.materialize(LEFT_HALF)

    def evaluate(self, model):
        selection = dg.AssetSelection.tag("bench/per", "model")
        return self.materialize([*LEFT_HALF, *MODEL_ASSETS], selection, model)

    def questions(self, *condition):
        return self.read(Question, *condition, "questions")


@pytest.fixture
def release(tmp_path):
    """Two validation questions, one of them with three images, and three test questions."""
    folder = tmp_path / "release"
    write_parquet(folder, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    hidden = [row(f"test_Relative_Depth_{n}", answer="hidden") for n in (1, 2, 3)]
    write_parquet(folder, "Relative_Depth", "test", hidden)
    write_parquet(folder, "Jigsaw", "val", [row("val_Jigsaw_1", **JIGSAW)])
    return folder


def test_a_release_becomes_questions_with_stored_and_concatenated_images(tmp_path, release):
    bench = Bench(tmp_path / "home", release)
    bench.build()
    depth, jigsaw = bench.questions()
    assert (depth.question_id, jigsaw.answer) == ("blink/val_Relative_Depth_1", ("A",))
    stored = [bench.images.read(image) for image in jigsaw.images]
    assert stored == [JIGSAW[f"image_{n}"]["bytes"] for n in (1, 2, 3)]
    assert [question.question_id for question in bench.questions("test")] == [
        f"blink/test_Relative_Depth_{n}" for n in (1, 2, 3)
    ]
    (concatenated,) = bench.questions("concatenated_images")
    assert concatenated.question_id == "blink/val_Jigsaw_1"
    (image,) = concatenated.images
    assert bench.images.open(image).size == (30 + 10 + 10 + 10 + 10, 20)  # with two gaps of 10 px


def test_captions_of_a_model_stand_in_for_images(tmp_path, release):
    toml = (
        '[suites.blink]\ncaptioner = "describer"\n'
        '[models.describer]\nkind = "scripted"\nsays = "a red dot"\n'
    )
    bench = Bench(tmp_path / "home", release, toml)
    bench.build()
    assert len(bench.read(ImageText, "captions")) == 1 + 3  # images of the two questions
    depth, jigsaw = bench.questions("captions_for_images")
    assert (depth.image_texts, jigsaw.image_texts) == (("a red dot",), 3 * ("a red dot",))


DESCRIBERS = (
    '[models.a]\nkind = "scripted"\nsays = "a red dot"\n'
    '[models.b]\nkind = "scripted"\nsays = "a blue dot"\n'
)


def read_captions(home, release, captioner):
    """Evaluate the condition with captions of a scripted model, and read them."""
    (home / "bench.toml").write_text(
        f'[sources]\nblink = "{release}"\n[suites.blink]\ncaptioner = "{captioner}"\n{DESCRIBERS}'
    )
    command = ["evaluate", "blink", "--model", "random", "--condition", "captions_for_images"]
    assert CliRunner().invoke(app, command).exit_code == 0
    captions = tables_of(load_settings(home)).read(["blink", "captions"], ImageText)
    return {(caption.author, caption.text) for caption in captions}


def test_another_captioner_captions_anew(tmp_path, release, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    assert read_captions(tmp_path, release, "a") == {("a", "a red dot")}
    assert read_captions(tmp_path, release, "b") == {("b", "a blue dot")}


def test_an_image_that_does_not_decode_is_named_by_file_row_and_column(tmp_path, release):
    broken = row("val_Relative_Depth_1", image_1={"bytes": plain_png()[:-30], "path": "x"})
    file = write_parquet(release, "Relative_Depth", "val", [broken])
    bench = Bench(tmp_path / "home", release)
    bench.build()
    assert [question.question_id for question in bench.questions()] == ["blink/val_Jigsaw_1"]
    reasons = {row.entry: row.reason for row in bench.read(Rejection, "rejections")}
    expected = f"{file.name}, row 1 (val_Relative_Depth_1), image_1: does not decode"
    assert expected in reasons["val_Relative_Depth_1"]


def test_a_model_is_evaluated_and_submitted(tmp_path, release):
    """B is right about depth and wrong about the jigsaw, in each of five runs."""
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
    overall = {row.metric: (row.value, row.n_scored) for row in votes if row.category == "all"}
    assert overall == {"majority_vote": (0.5, 2), "single_run": (0.5, 10)}
    options = bench.read(SubmittedOption, "test", "submission", model="sure")
    assert [row.option for row in options] == ["(B)"] * 3


def test_several_responses_to_a_question_are_not_submitted():
    score = Score(question_id="blink/test_Jigsaw_1", model="m", condition="main", points=1.0)
    with pytest.raises(ModelError, match="several responses to a question"):
        submitted_options([score, replace(score, sample=1)])


def export(*arguments):
    return CliRunner().invoke(app, ["export", "blink-submission", *map(str, arguments)])


@pytest.fixture
def home_of_recorded_models(release, tmp_path, monkeypatch):
    """A home with a model that responds to all questions, and one that responds to the first."""
    home = tmp_path / "home"
    home.mkdir()
    lines = [
        json.dumps({"question_id": f"blink/test_Relative_Depth_{n}", "text": text})
        for n, text in enumerate(RESPONSES, 1)
    ]
    (home / "all.jsonl").write_text("\n".join(lines))
    (home / "first.jsonl").write_text(lines[0])
    (home / "bench.toml").write_text(
        f'[sources]\nblink = "{release}"\n'
        '[models."org/m"]\nkind = "recorded"\nfile = "all.jsonl"\n'
        '[models.incomplete]\nkind = "recorded"\nfile = "first.jsonl"\n'
    )
    monkeypatch.setenv("BENCH_HOME", str(home))
    return home


@pytest.mark.usefixtures("home_of_recorded_models")
def test_the_submission_has_every_question_of_the_test_split_and_no_other(tmp_path):
    result = export("--model", "org/m", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    file = tmp_path / "out" / "blink_test_org%2Fm.json"
    assert str(file) in result.stdout
    assert "left out: questions of the release that the source lacks" in result.stderr
    assert json.loads(file.read_text(encoding="utf-8")) == {
        f"test_Relative_Depth_{n}": option for n, option in enumerate(SUBMITTED, 1)
    }


def test_a_submission_with_missing_responses_is_refused(home_of_recorded_models):
    result = export("--model", "incomplete")
    assert result.exit_code == 1
    assert "2 of 3 test questions have no response" in result.stderr  # rather than submit "(Z)"
    assert not (home_of_recorded_models / "export" / "blink_test_incomplete.json").exists()


def test_a_submission_of_the_mini_edition_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    result = export("--model", "random")
    assert result.exit_code == 1
    assert "BLINK's server does not score the mini edition" in result.stderr


@pytest.mark.usefixtures("home_of_recorded_models")
def test_a_submission_needs_the_name_of_a_model():
    result = export()
    assert result.exit_code == 1
    assert "name it with --model" in result.stderr
