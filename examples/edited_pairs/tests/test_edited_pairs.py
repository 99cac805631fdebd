"""The suite keeps its contract; its own rules, by pencil."""

import tomllib
from pathlib import Path

import pytest

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.rows import Prediction, StoredImage
from bench_assets.evaluation import pipeline
from bench_assets.testing import check_suite
from edited_pairs_bench import NAME
from edited_pairs_bench.questions import to_questions
from edited_pairs_bench.scenes import COLOURS, Edit, Scene, edit
from edited_pairs_bench.suite import SUITE
from edited_pairs_bench.task import TASK
from tests.fakes.distributions import write_distribution

PACKAGE = Path(__file__).parent.parent


def scene(name="1", shape="disc", colour="red"):
    return Scene(where=f"scenes.json, entry {name}", id=name, shape=shape, colour=colour)


def asked():
    """Two pairs: a red and a blue disc."""
    edits = [Edit(id=c, shape="disc", before=c, after="green") for c in ("red", "blue")]
    images = {
        f"{c}/{part}": StoredImage(
            name="", sha256=f"{c}{part}", format="PNG", width=1, height=1, n_bytes=1
        )
        for c in ("red", "blue")
        for part in ("before", "after")
    }
    return to_questions(edits, images, "mini")


def test_the_suite_keeps_the_contract():
    check_suite(SUITE, group_sizes={NAME: [2]})


def test_it_is_found_by_its_entry_point(tmp_path, monkeypatch):
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    write_distribution(tmp_path / "site", project["name"], project["entry-points"])
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert load_catalog().suite(NAME).tasks == SUITE.tasks


def test_an_edit_changes_the_colour_and_is_drawn_once():
    scenes = [scene(str(n), colour=COLOURS[n % 4]) for n in range(20)]
    edits, rejections = edit(scenes, seed=0)
    assert edit(list(reversed(scenes)), seed=0)[0] == edits[::-1]
    assert all(one.before != one.after for one in edits)
    assert len({one.after for one in edits}) > 1
    assert rejections == []


def test_a_scene_that_cannot_be_drawn_is_a_rejection():
    edits, (why,) = edit([scene(shape="star")], seed=0)
    assert (edits, why.reason) == ([], "a red star cannot be drawn")


@pytest.mark.parametrize(
    ("responses", "pairs", "questions"),
    [
        pytest.param(["Yes", "No", "Yes, it is.", "No, it is not."], 1.0, 1.0, id="all right"),
        pytest.param(["Yes", "Yes", "Yes", "Yes"], 0.0, 0.5, id="always yes"),
        pytest.param(["Yes", "No", "Yes", "I cannot tell."], 0.5, 0.75, id="one unread"),
    ],
)
def test_a_pair_counts_if_both_halves_are_right(responses, pairs, questions):
    rows = asked()
    said = [
        Prediction(question_id=q.question_id, model="m", condition="main", text=text)
        for q, text in zip(rows, responses, strict=True)
    ]
    scores = pipeline.score(TASK, rows, said, [])
    found = {m.metric: m.value for m in pipeline.summarise(TASK, rows, said, scores)}
    assert (found["pair_accuracy"], found["accuracy"]) == (pairs, questions)
