"""BLINK as a graph: what reaches the tables on each route."""

import json
from random import Random
from typing import Any

import dagster as dg
import pytest
from typer.testing import CliRunner

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.cli.main import app
from bench_assets.core.schema.rows import ImageText, Metric, Question, Rejection
from bench_assets.suites.blink.assets import ablations, studies
from bench_assets.suites.blink.assets import questions as assets
from bench_assets.suites.blink.assets.studies import SubmittedOption
from bench_assets.suites.blink.dataset import PERCEPTION_TASKS
from bench_assets.suites.blink.synthetic import objects as mini_objects
from bench_assets.suites.blink.task import TASK
from tests.fakes.blink_release import png, row, write_json, write_parquet
from tests.fakes.home import Home

LEFT_HALF = dg.load_assets_from_modules([assets, ablations])
OF_A_MODEL = [
    *dg.load_assets_from_modules([studies]),
    *evaluation_assets(TASK),
    *evaluation_assets(TASK, "self_consistency"),
]
JIGSAW: dict[str, Any] = {
    "image_1": {"bytes": png(size=(30, 20)), "path": "a"},
    "image_2": {"bytes": png("green", (10, 20)), "path": "b"},
    "image_3": {"bytes": png("blue", (10, 20)), "path": "c"},
    "choices": ["the second image", "the third image"],
    "answer": "(A)",
}


class Bench(Home):
    """BLINK over a home folder of its own."""

    def __init__(self, home, source, written=""):
        super().__init__(home, "blink", source, written)

    def build(self):
        return self.materialize(LEFT_HALF)

    def evaluate(self, model):
        of_a_model = dg.AssetSelection.tag("bench/per", "model")
        return self.materialize([*LEFT_HALF, *OF_A_MODEL], of_a_model, model)

    def evaluate_people(self):
        return self.materialize([studies.human_score, *LEFT_HALF])

    def questions(self, *below):
        return self.read(Question, *below, "questions")


@pytest.fixture
def release(tmp_path):
    """Two validation questions, one of them with three images, and a test question."""
    folder = tmp_path / "release"
    write_parquet(folder, "Relative_Depth", "val", [row("val_Relative_Depth_1")])
    hidden = row("test_Relative_Depth_1", answer="hidden")
    write_parquet(folder, "Relative_Depth", "test", [hidden])
    write_parquet(folder, "Jigsaw", "val", [row("val_Jigsaw_1", **JIGSAW)])
    return folder


def test_a_release_becomes_questions_with_its_images_in_the_store(tmp_path, release):
    bench = Bench(tmp_path / "home", release)
    bench.build()
    depth, jigsaw = bench.questions()
    assert (depth.question_id, jigsaw.answer) == ("blink/val_Relative_Depth_1", ("A",))
    stored = [bench.images.read(image) for image in jigsaw.images]
    assert stored == [JIGSAW[f"image_{n}"]["bytes"] for n in (1, 2, 3)]
    assert [question.question_id for question in bench.questions("test")] == [
        "blink/test_Relative_Depth_1"
    ]


def test_images_are_joined_for_the_questions_that_have_several(tmp_path, release):
    bench = Bench(tmp_path / "home", release)
    bench.build()
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


@pytest.mark.long
def test_raw_material_is_built(tmp_path):
    for path, data in mini_objects.things_at_depths(Random(0), 4).items():
        file = tmp_path / "raw" / "diw" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    bench = Bench(tmp_path / "home", tmp_path / "raw")
    bench.build()
    questions = bench.questions()
    assert {question.edition for question in questions} == {"built"}


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
    (option,) = bench.read(SubmittedOption, "test", "submission", model="sure")
    assert option.option == "(B)"
    file = bench.export / "blink_test_sure.json"
    assert json.loads(file.read_text()) == {"test_Relative_Depth_1": "(B)"}


pytestmark = pytest.mark.long

RESPONSES = ("(A)", "The answer is (B).", "none of them, I cannot tell")
SUBMITTED = ("(A)", "(B)", "(Z)")  # the authors' mark of a response without an option
COLOURS = ("red", "green", "blue", "white")


def entry(task, split, number):
    """A row of any task, with as many images and options as its release has."""
    letters = "".join(f"\n({letter}) {text}" for letter, text in zip("ABCD", task.options))  # noqa: B905
    shown = {
        f"image_{place + 1}": {"bytes": png(colour, (8 + number, 6 + place)), "path": "1.jpg"}
        for place, colour in enumerate(COLOURS[: task.images])
    }
    idx = f"{split}_{task.name}_{number}"
    return row(
        idx,
        sub_task=task.name,
        question=task.question,
        prompt=f"{task.question} ({idx}){letters}",
        choices=list(task.options),
        answer="hidden" if split == "test" else "(A)",
        **shown,
    )


@pytest.fixture
def split_home(tmp_path, monkeypatch):
    """BLINK as it is released, half of it as JSON; of every task 1 + 3 rows; responses to all."""
    release, folder = tmp_path / "blink", tmp_path / "home"
    folder.mkdir()
    for place, task in enumerate(PERCEPTION_TASKS.values()):
        write = write_json if place % 2 else write_parquet
        write(release, task.name, "val", [entry(task, "val", 1)])
        write(release, task.name, "test", [entry(task, "test", n) for n in (1, 2, 3)])
    responses = {
        f"blink/test_{name}_{n}": text
        for name in PERCEPTION_TASKS
        for n, text in enumerate(RESPONSES, 1)
    }
    lines = [json.dumps({"question_id": name, "text": text}) for name, text in responses.items()]
    (folder / "said.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "bench.toml").write_text(
        f'[sources]\nblink = "{release}"\n[models."org/m"]\nkind = "recorded"\n'
        'file = "said.jsonl"\n[models.none]\nkind = "recorded"\nfile = "none.jsonl"\n',
        encoding="utf-8",
    )
    (folder / "none.jsonl").write_text(lines[0], encoding="utf-8")
    monkeypatch.setenv("BENCH_HOME", str(folder))
    return folder


def export(*arguments):
    return CliRunner().invoke(app, ["export", "blink-submission", *map(str, arguments)])


def test_the_file_has_every_question_of_the_test_split_and_no_other(split_home, tmp_path):
    result = export("--model", "org/m", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    file = tmp_path / "out" / "blink_test_org%2Fm.json"
    assert str(file) in result.stdout
    assert json.loads(file.read_text(encoding="utf-8")) == {
        f"test_{name}_{n}": option
        for name in PERCEPTION_TASKS
        for n, option in enumerate(SUBMITTED, 1)
    }
    hole = export("--model", "none")  # a response that is missing is no "(Z)"
    assert hole.exit_code == 1
    assert not (split_home / "export" / "blink_test_none.json").exists()
    nobody = export()
    assert nobody.exit_code == 1
    assert "name it with --model" in nobody.stderr
