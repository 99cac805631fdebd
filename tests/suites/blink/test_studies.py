"""The studies' arithmetic, by pencil."""

import json
import math
from math import nan
from xml.etree import ElementTree

import pytest

from bench_assets.core.schema.errors import ModelError, SourceError
from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.evaluation import pipeline
from bench_assets.suites.blink.assets.studies import submitted_options
from bench_assets.suites.blink.studies import (
    HumanAnswer,
    TaskAccuracy,
    common_mistakes,
    human_scores,
    radar,
    read_answers,
    vote_over_runs,
)
from bench_assets.suites.blink.task import TASK
from bench_assets.suites.blink.visual_prompts import ALL_CIRCLES, label_variants, sample_questions
from tests.fakes.rows import prediction, question


def score(question_id="q", *, answer="", points=0.0, sample=0, **fields):
    return Score(
        question_id=question_id,
        model="m",
        condition="main",
        sample=sample,
        points=points,
        answer=tuple(answer),
        **fields,
    )


@pytest.mark.parametrize(
    ("runs", "points", "winner"),
    [
        pytest.param("AABBA", 1.0, ("A",), id="the most frequent answer wins"),
        pytest.param("BBABA", 0.0, ("B",), id="also when it is wrong"),
        pytest.param("A----", 1.0, ("A",), id="refusals do not vote"),
        pytest.param("B-A-", 0.0, ("B",), id="of two as frequent, the one that came first"),
        pytest.param("-----", 0.0, (), id="without a vote the answer is wrong"),
    ],
)
def test_the_majority_of_runs(runs, points, winner):
    right = question(question_id="q", answer=("A",))
    rows = [score(answer=run.strip("-"), sample=n) for n, run in enumerate(runs)]
    (vote,) = vote_over_runs([right], reversed(rows))
    assert (vote.points, vote.answer, vote.sample) == (points, winner, 0)


def test_a_vote_that_an_unscored_run_might_change_is_unscored():
    rows = [score(answer="A", sample=0), score(points=None, sample=1, error="timeout")]
    (vote,) = vote_over_runs([question(question_id="q", answer=("A",))], rows)
    assert (vote.points, vote.error) == (None, "timeout")


def test_mistakes_that_pairs_of_models_share():
    """Of 4 questions x gets 1 to 3 wrong, y 2 to 4, z only 4; y was not scored on 1."""
    rows = {
        "x": [score(q, points=float(q == "4")) for q in "1234"],
        "y": [score("1", points=None), *(score(q) for q in "234")],
        "z": [score(q, points=float(q != "4")) for q in "1234"],
    }
    pairs = {(row.model, row.other): row for row in common_mistakes(rows)}
    assert pairs.keys() == {("x", "y"), ("x", "z"), ("y", "z")}
    xy = pairs["x", "y"]
    assert (xy.n_questions, xy.n_mistakes, xy.n_mistakes_other, xy.n_common) == (3, 2, 3, 2)
    assert xy.n_expected == 2 * 3 / 3
    assert pairs["x", "z"].n_common == 0
    assert pairs["y", "z"].n_common == 1


def test_one_model_has_no_pair():
    assert common_mistakes({"x": [score()]}) == []


def answer(person, question_id, letter):
    return HumanAnswer(where="line", question_id=question_id, person=person, answer=letter)


TWO_TASKS = [
    question(question_id=f"{task}{n}", category=task, answer=("A",), options=("x", "y"))
    for task in ("Jigsaw", "IQ_Test")
    for n in (1, 2)
]


def test_people_are_scored_as_the_mean_of_persons_and_then_of_tasks():
    """Jigsaw: P 2 of 2, Q 1 of 2, so 0.75; IQ_Test, half each: P 1 of 1, Q 0 of 1, so 0.5."""
    given = [
        answer("P", "Jigsaw1", "A"),
        answer("P", "Jigsaw2", "A"),
        answer("Q", "Jigsaw1", "A"),
        answer("Q", "Jigsaw2", "B"),
        answer("P", "IQ_Test1", "A"),
        answer("Q", "IQ_Test2", "B"),
    ]
    scores = {row.category: row for row in human_scores(TWO_TASKS, given)}
    assert [(name, row.accuracy) for name, row in scores.items()] == [
        ("Jigsaw", 0.75),
        ("IQ_Test", 0.5),
        ("all", 0.625),
        ("all but IQ_Test", 0.75),
    ]
    assert scores["Jigsaw"].agreement == 0.5  # they agree on one of two questions
    assert math.isnan(scores["IQ_Test"].agreement)  # nobody answered what another did
    assert scores["all"].agreement == 0.5  # of the tasks that have one


def test_without_answers_people_have_no_score():
    assert human_scores(TWO_TASKS, []) == []


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(answer("P", "Chess1", "A"), id="an unknown question"),
        pytest.param(answer("P", "Jigsaw1", "C"), id="an option that is not offered"),
        pytest.param(answer("P", "Jigsaw1", "AB"), id="two options"),
        pytest.param(answer("P", "Jigsaw1", ""), id="no option"),
    ],
)
def test_an_answer_of_a_person_that_cannot_be_is_refused_by_line(given):
    with pytest.raises(SourceError, match=r"^line: "):
        human_scores(TWO_TASKS, [given])


def test_a_file_of_peoples_answers(tmp_path):
    file = tmp_path / "people.jsonl"
    line = {"question_id": "blink/val_Jigsaw_1", "person": "P", "answer": "(a)"}
    file.write_text(json.dumps(line) + "\n")
    assert [(answer.person, answer.letter) for answer in read_answers(file)] == [("P", "A")]
    file.write_text(2 * (json.dumps(line) + "\n"))
    with pytest.raises(SourceError, match=r"line 2: the same question_id, person as in .*line 1"):
        read_answers(file)


def depth(n, split="val"):
    name = f"blink/{split}_Relative_Depth_{n}"
    return question(question_id=name, category="Relative_Depth", labels={"split": split})


def test_circles_are_studied_on_up_to_100_validation_questions_of_three_tasks():
    questions = [depth(n) for n in range(150)] + [depth(n, "test") for n in range(150)]
    chosen = sample_questions(
        [*questions, question(category="Jigsaw", labels={"split": "val"})], seed=0
    )
    assert len(chosen) == 100
    assert {one.labels["split"] for one in chosen} == {"val"}
    assert chosen == sample_questions(questions, seed=0) != sample_questions(questions, seed=1)
    assert chosen == sorted(chosen, key=questions.index)


def test_a_question_is_shown_with_six_kinds_of_circles():
    rows = [row for circles in ALL_CIRCLES for row in label_variants([depth(1)], circles)]
    assert [row.question_id.removeprefix("blink/val_Relative_Depth_1/") for row in rows] == [
        "5px_red",
        "5px_gray",
        "10px_red",
        "10px_gray",
        "15px_red",
        "15px_gray",
    ]
    assert {row.group_id for row in rows} == {"blink/val_Relative_Depth_1"}
    assert rows[3].labels == {"split": "val", "circles": "10 px gray"}


HIDDEN = question(
    question_id="blink/test_Jigsaw_1", kind="choice", answer=(), options=("x", "y"), category="J"
)


@pytest.mark.parametrize(
    ("response", "option"),
    [
        pytest.param("Answer: B", "(B)", id="the option that was read"),
        pytest.param("I cannot help with that.", "(Z)", id="nothing was read"),
    ],
)
def test_a_submission_has_the_authors_ids_and_options(response, option):
    predicted = prediction(question_id=HIDDEN.question_id, text=response)
    unread = Judgement.of(
        predicted, judge="rules", criterion="answer", verdict=False, response="(Z)"
    )
    (row,) = submitted_options(pipeline.score(TASK, [HIDDEN], [predicted], [unread]))
    assert (row.idx, row.option) == ("test_Jigsaw_1", option)


def test_a_hole_is_not_submitted_as_if_it_were_an_answer():
    failed = prediction(question_id=HIDDEN.question_id, text="", error="timeout")
    with pytest.raises(ModelError, match=r"blink/test_Jigsaw_1: timeout"):
        submitted_options(pipeline.score(TASK, [HIDDEN], [failed], []))


PROFILE = [
    TaskAccuracy(task="Jigsaw", accuracy=0.5, low=0.25, high=0.75, chance=0.5, n=4),
    TaskAccuracy(task="IQ_Test", accuracy=1.0, low=0.5, high=1.0, chance=0.25, n=4),
    TaskAccuracy(task="Counting", accuracy=nan, low=nan, high=nan, chance=0.25, n=0),
    TaskAccuracy(task="Art_Style", accuracy=0.0, low=0.0, high=0.5, chance=0.5, n=4),
]
SVG = "{http://www.w3.org/2000/svg}"


def test_the_radar_has_an_axis_a_task_clockwise_from_above():
    """180 px are 100 %, the middle is at 280, 280; a task without a value lies there."""
    drawn = ElementTree.fromstring(radar(PROFILE, "a <model>"))
    chance, model = (one.get("points") for one in drawn.iter(f"{SVG}polygon"))
    assert model == "280.0,190.0 460.0,280.0 280.0,280.0 280.0,280.0"
    assert chance == "280.0,190.0 325.0,280.0 280.0,325.0 190.0,280.0"
    assert "a <model>" in [text.text for text in drawn.iter(f"{SVG}text")]
