"""The suite satisfies the contract of suites; edits and scores are as computed by hand."""

import tomllib
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.rows import Prediction, StoredImage
from bench_assets.evaluation import pipeline
from bench_assets.testing import check_suite
from edited_pairs_bench import NAME
from edited_pairs_bench.questions import to_questions
from edited_pairs_bench.scenes import COLOURS, Edit, Scene, choose_edits
from edited_pairs_bench.suite import SUITE
from edited_pairs_bench.task import TASK
from tests.fakes.distributions import write_distribution

PACKAGE = Path(__file__).parent.parent


def make_scene(name="1", shape="disc", colour="red"):
    return Scene(where=f"scenes.json, entry {name}", id=name, shape=shape, colour=colour)


def make_questions():
    """Two pairs: a red and a blue disc, both green after the edit."""
    edits = [Edit(id=c, shape="disc", before=c, after="green") for c in ("red", "blue")]
    images = {
        f"{c}/{part}": StoredImage(
            name="", sha256=f"{c}{part}", format="PNG", width=1, height=1, n_bytes=1
        )
        for c in ("red", "blue")
        for part in ("before", "after")
    }
    return to_questions(edits, images, "mini")


def test_the_suite_satisfies_the_contract_with_groups_of_two_questions():
    check_suite(SUITE, group_sizes={NAME: [2]})


def test_the_catalog_finds_the_suite_by_its_entry_point(tmp_path, monkeypatch):
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    write_distribution(tmp_path / "site", project["name"], project["entry-points"])
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert load_catalog().suite(NAME).tasks == SUITE.tasks


def test_every_edit_changes_the_colour():
    scenes = [make_scene(str(n), colour=COLOURS[n % 4]) for n in range(20)]
    edits, rejections = choose_edits(scenes, seed=0)
    assert [edit.before for edit in edits] == [scene.colour for scene in scenes]
    assert all(edit.after in COLOURS and edit.after != edit.before for edit in edits)
    assert rejections == []


def test_an_edit_does_not_depend_on_the_order_of_scenes():
    scenes = [make_scene(str(n), colour=COLOURS[n % 4]) for n in range(20)]
    edits, _ = choose_edits(scenes, seed=0)
    reversed_edits, _ = choose_edits(scenes[::-1], seed=0)
    assert reversed_edits == edits[::-1]


def test_a_scene_that_cannot_be_drawn_is_rejected():
    edits, rejections = choose_edits([make_scene(shape="star")], seed=0)
    assert edits == []
    assert [rejection.reason for rejection in rejections] == ["a red star cannot be drawn"]


@pytest.mark.parametrize(
    ("responses", "pair_accuracy", "accuracy"),
    [
        pytest.param(["Yes", "No", "Yes, it is.", "No, it is not."], 1.0, 1.0, id="all right"),
        pytest.param(["Yes", "Yes", "Yes", "Yes"], 0.0, 0.5, id="always yes"),
        pytest.param(["Yes", "No", "Yes", "I cannot tell."], 0.5, 0.75, id="one unread"),
    ],
)
def test_a_pair_counts_if_both_answers_are_right(responses, pair_accuracy, accuracy):
    questions = make_questions()
    predictions = [
        Prediction(question_id=question.question_id, model="m", condition="main", text=response)
        for question, response in zip(questions, responses, strict=True)
    ]
    scores = pipeline.score(TASK, questions, predictions, [])
    metrics = pipeline.summarise(TASK, questions, predictions, scores)
    values = {metric.metric: metric.value for metric in metrics}
    assert (values["pair_accuracy"], values["accuracy"]) == (pair_accuracy, accuracy)
