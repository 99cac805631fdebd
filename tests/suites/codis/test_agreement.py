import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement
from bench_assets.suites.codis.studies import (
    JudgeLabel,
    agreement,
    consistency,
    judged_by_people,
    labels_of,
    read_labels,
)
from tests.rows import prediction


def judged(judge, *verdicts):
    return [
        Judgement.of(
            prediction(question_id=f"q{n}"),
            judge=judge,
            criterion="correct",
            verdict=v,
            response="",
        )
        for n, v in enumerate(verdicts)
    ]


def labels(question_id, votes, tie_break=None):
    """One letter a person: r for right, w for wrong."""
    people = [
        JudgeLabel(question_id=question_id, correct=vote == "r", annotator=str(n))
        for n, vote in enumerate(votes)
    ]
    fifth = [JudgeLabel(question_id=question_id, correct=tie_break == "r", tie_break=True)]
    return people + (fifth if tie_break else [])


@pytest.mark.parametrize(
    ("first", "second", "value", "n_scored", "n_unscored"),
    [
        pytest.param((True, False), (True, False), 1.0, 2, 0, id="of one mind"),
        pytest.param((True, False, True, True), (True, True, True, False), 0.5, 4, 0, id="half"),
        pytest.param((True, None, None), (True, False, None), 1.0, 1, 2, id="unreadable verdicts"),
        pytest.param((True, True, True), (False,), 0.0, 1, 0, id="one saw only a sample"),
    ],
)
def test_agreement_is_over_what_both_judged(first, second, value, n_scored, n_unscored):
    for one, other in ((first, second), (second, first)):
        found = agreement(judged("a", *one), judged("b", *other))
        assert (found.value, found.n_scored, found.n_unscored) == (value, n_scored, n_unscored)


def test_table_7_agreement_of_gpt_4v():
    people = judged("people", *[True] * 706)
    gpt4 = judged("gpt-4", *[n >= 17 for n in range(706)])
    assert f"{100 * agreement(people, gpt4).value:.1f}" == "97.6"


@pytest.mark.parametrize(
    ("voted", "value", "n"),
    [
        pytest.param(labels("q", "rrrr"), 1.0, 4, id="all agree"),
        pytest.param(labels("q", "rrrw"), 0.75, 4, id="one of four is outvoted"),
        pytest.param(labels("q", "rrww", "w"), 0.5, 4, id="the fifth decides but does not count"),
        pytest.param(labels("q", "wwwr", "r"), 0.75, 4, id="without a tie a fifth decides nothing"),
        pytest.param(labels("q", "rrrr") + labels("p", "wwwr"), 0.875, 8, id="two queries"),
    ],
)
def test_consistency_by_the_equation_of_appendix_a(voted, value, n):
    found = consistency(voted)
    assert (found.value, found.n_scored) == (value, n)


def test_a_tie_that_nobody_broke_is_named():
    with pytest.raises(SourceError, match=r"codis/017/2: 2 say right and 2 wrong; .*tie_break"):
        consistency(labels("q", "rrrr") + labels("codis/017/2", "rwrw"))


def test_people_judge_by_majority_what_they_looked_at():
    said = [prediction(question_id=q) for q in ("q1", "q2", "q3")]
    rows = judged_by_people(labels("q1", "rrw") + labels("q3", "wr", "w"), said)
    assert [(r.question_id, r.judge, r.verdict, r.response) for r in rows] == [
        ("q1", "people", True, "2 of 3 say right"),
        ("q3", "people", False, "1 of 3 say right"),
    ]


def test_labels_of_unknown_questions_are_refused():
    with pytest.raises(SourceError, match="1 unknown questions, such as codis/999/1"):
        judged_by_people(labels("codis/999/1", "r"), [prediction(question_id="codis/000/1")])


def test_labels_belong_to_the_model_they_name_or_to_any():
    mine, other, any_model = (
        JudgeLabel(question_id="q", correct=True, model=name) for name in ("m", "n", "")
    )
    assert labels_of("m", [mine, other, any_model]) == [mine, any_model]


def write(file, *entries):
    file.write_text("\n".join(e if isinstance(e, str) else json.dumps(e) for e in entries))
    return file


def test_labels_are_read_line_by_line(tmp_path):
    file = write(
        tmp_path / "labels.jsonl",
        {"question_id": "codis/000/1", "correct": True},
        "",
        {"question_id": "codis/000/1", "correct": False, "model": "m", "annotator": "5",
         "tie_break": True},
    )  # fmt: skip
    assert read_labels(file) == [
        JudgeLabel(question_id="codis/000/1", correct=True),
        JudgeLabel(
            question_id="codis/000/1", correct=False, model="m", annotator="5", tie_break=True
        ),
    ]


GOOD = {"question_id": "codis/000/1", "correct": True}


@pytest.mark.parametrize(
    "second",
    [
        pytest.param('{"question_id": "codis/00', id="cut short"),
        pytest.param("[1]", id="a list"),
        pytest.param({"question_id": "codis/000/2"}, id="no verdict"),
        pytest.param({"correct": True}, id="no question"),
        pytest.param({"question_id": "codis/000/2", "correct": "yes"}, id="a verdict in words"),
        pytest.param({"question_id": "codis/000/2", "correct": 1}, id="a number"),
        pytest.param(
            {"question_id": "codis/000/2", "correct": True, "tiebreak": True}, id="a misspelt field"
        ),
        pytest.param(GOOD, id="the same person, model and question again"),
    ],
)
def test_bad_labels_are_named_by_file_and_line(tmp_path, second):
    with pytest.raises(SourceError, match=r"labels\.jsonl, line 2"):
        read_labels(write(tmp_path / "labels.jsonl", GOOD, second))


def test_a_missing_file_of_labels_is_named(tmp_path):
    with pytest.raises(SourceError, match=r"labels\.jsonl"):
        read_labels(tmp_path / "labels.jsonl")
