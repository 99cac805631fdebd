"""The images of a condition that are made when it is asked for, and not before."""

import json
from dataclasses import replace
from random import Random

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.core.schema.rows import Metric, Question, Score
from bench_assets.evaluation import pipeline
from bench_assets.suites.blink.construction.build import build_all
from bench_assets.suites.blink.construction.recipes import BuilderParameters
from bench_assets.suites.blink.synthetic import image_choices, surfaces
from bench_assets.suites.blink.synthetic.objects import claims
from bench_assets.suites.blink.task import TASK
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.models.registry.recorded import RecordedModel, read_responses
from bench_resources.tables.parquet import TableFiles
from tests.fakes.blink_release import png, row, write_parquet

JIGSAW = {
    "image_1": {"bytes": png(size=(30, 20)), "path": "a"},
    "image_2": {"bytes": png("green", (10, 20)), "path": "b"},
    "image_3": {"bytes": png("blue", (10, 20)), "path": "c"},
    "choices": ["the second image", "the third image"],
    "answer": "(A)",
}


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


N = 200
BENCH_TOML = """
[benchmarks.fridge]
file = "fridge.jsonl"
metric = "macro_accuracy"
prompt = "{context}"
slices = ["split"]

[models.said]
kind = "recorded"
file = "said.jsonl"
"""
MORE = {"wikiart": image_choices.paintings, "puzzles": surfaces.puzzles, "vsr": claims}


@pytest.fixture(scope="module")
def questions(whole_edition, tmp_path_factory) -> list[Question]:
    """The mini edition, and the first of another one: its ids say which."""
    folder = tmp_path_factory.mktemp("another")
    for name, draw in MORE.items():
        for path, data in draw(Random(1), 12).items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(data)
    put = whole_edition.store.put
    built = build_all(folder, put, edition="mini", seed=1, parameters=BuilderParameters())
    further = [replace(q, question_id=f"{q.question_id}/another") for q in built.questions]
    return [*whole_edition.built.questions, *further][:N]


def say(question: Question, draw: Random) -> str:
    """A response as models give them.

    A letter, the option's text, a sentence, nothing to be read.
    """
    place = draw.randrange(len(question.options))
    letter = "ABCDEFGH"[place]
    forms = ["({letter})", "{letter}. {option}", "The answer is {letter}.", "{option}", "Hm.", ""]
    return draw.choice(forms).format(letter=letter, option=question.options[place])


def write_home(home, questions, read):
    """The file with its images beside it, and responses to its questions; no line of Python."""
    rows, responses = [], []
    for question in questions:
        named = question.question_id.removeprefix("blink/")
        for digest in question.images:
            (home / f"{digest}.png").write_bytes(read(digest))
        rows.append(
            {
                "id": named,
                "question": question.text,
                "context": question.context,
                "images": [f"{digest}.png" for digest in question.images],
                "options": question.options,
                "answer": question.answer[0],
                "category": question.category,
                "group": question.group_id or None,
                "split": question.labels["split"],
            }
        )
        text = say(question, Random(named))
        responses.append({"question_id": f"fridge/{named}", "text": text})
    for name, lines in (("fridge", rows), ("said", responses)):
        (home / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (home / "bench.toml").write_text(BENCH_TOML)


def by_the_suite(questions, home):
    """Points and metrics of the same responses, as BLINK's own task has them."""
    responses = [
        replace(response, question_id=response.question_id.replace("fridge/", "blink/", 1))
        for response in read_responses(home / "said.jsonl")
    ]
    model = RecordedModel("said", responses, home / "said.jsonl")
    predictions = pipeline.predict(TASK, questions, model)
    verdicts = pipeline.judge(TASK, questions, predictions, None)
    scores = pipeline.score(TASK, questions, predictions, verdicts)
    return scores, pipeline.summarise(TASK, questions, predictions, scores)


@pytest.mark.long
def test_two_hundred_questions_have_the_numbers_of_the_suite(
    questions, whole_edition, tmp_path, monkeypatch
):
    assert len(questions) == N
    write_home(tmp_path, questions, whole_edition.store.read)
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    result = CliRunner().invoke(app, ["evaluate", "fridge", "--model", "said"])
    assert result.exit_code == 0, result.output
    tables = TableFiles(folder=str(tmp_path / "tables"))
    scores, metrics = by_the_suite(questions, tmp_path)
    assert {
        (one.question_id.removeprefix("fridge/"), one.points, one.answer)
        for one in tables.read(["fridge", "scores"], Score, "said")
    } == {
        (score.question_id.removeprefix("blink/"), score.points, score.answer) for score in scores
    }
    assert sum(score.points for score in scores) not in (0, N)

    def numbers(rows, names):
        return {
            (names[row.metric], row.category, row.value, row.low, row.high, row.n_scored)
            for row in rows
            if row.metric in names and not row.category.startswith("split ")
        }

    ours = tables.read(["fridge", "metrics"], Metric, "said")
    assert numbers(ours, {"macro_accuracy": "macro", "accuracy": "micro"}) == numbers(
        metrics, {"accuracy": "macro", "accuracy_micro": "micro"}
    )
