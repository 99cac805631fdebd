from collections import Counter
from dataclasses import replace

import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.suites.multi.construction.selection import (
    NOTEBOOK,
    WEIGHTS,
    Quotas,
    choose_elite,
    hardness,
)
from tests.suites.multi.rows import question


def score(name, points, most=1.0, model="GPT-4"):
    return Score(question_id=name, model=model, condition="main", points=points, max_points=most)


def asked(n, kind="SA", code="czsx", images="NI", **labels):
    return [
        question(
            kind,
            "AB" if kind == "MA" else "A",
            question_id=f"multi/{code}_{kind}{images}{k}_0",
            labels={"images": images, "level": "JuH"} | labels,
        )
        for k in range(n)
    ]


def test_hardness_adds_the_weights_of_what_was_lost():
    one, other = asked(2)
    scores = [
        score(one.question_id, 1, 4),
        score(one.question_id, 0, model="MOSS"),
        score(one.question_id, 0, model="stranger"),
        score(other.question_id, None),
    ]
    hard = hardness([one, other], scores, WEIGHTS)
    assert hard[one.question_id] == pytest.approx(0.75 * 50.2 + 32.6)
    assert hard[other.question_id] == pytest.approx(50.2), "no response has no points"


def test_a_question_without_points_is_not_hard():
    (one,) = asked(1)
    assert hardness([one], [score(one.question_id, 0, 0)], WEIGHTS)[one.question_id] == 0.0


def test_a_model_without_eyes_counts_for_images_too():
    one = question(images=("p",))
    scores = [score(one.question_id, 0)]
    assert hardness([one], scores, WEIGHTS)[one.question_id] == 50.2


@pytest.mark.parametrize(
    ("have", "expected"),
    [
        pytest.param({"SA": 99, "MA": 99, "FB": 99}, {"MA": 15, "FB": 15, "SA": 30}, id="T = 60"),
        pytest.param(
            {"SA": 99, "MA": 4, "FB": 0}, {"MA": 4, "SA": 56}, id="SA takes what others lack"
        ),
        pytest.param({"SA": 5, "MA": 99, "FB": 99}, {"MA": 15, "FB": 15, "SA": 5}, id="too few SA"),
    ],
)
def test_the_quota_of_a_school_subject_without_images(have, expected):
    """NI, school: 30 twice; MA ceil(60/4), FB floor(60/4), SA the rest."""
    questions = [one for kind, n in have.items() for one in asked(n, kind)]
    hard = hardness(questions, [], WEIGHTS)
    chosen = choose_elite(questions, hard, NOTEBOOK, 0)
    assert Counter(one.type for one in chosen if one.candidate) == expected


def test_the_hardest_come_first_and_then_difficulty_and_quality():
    """Quota 4: one MA, one FB, two SA; 1.5 * difficulty + quality breaks ties."""
    easy, hard_one, fine, dull = asked(4)
    fine = replace(fine, labels=fine.labels | {"difficulty": "4", "quality": "1"})  # 7.0
    dull = replace(dull, labels=dull.labels | {"difficulty": "2", "quality": "3.5"})  # 6.5
    easy = replace(easy, labels=easy.labels | {"difficulty": "1", "quality": "1"})  # 2.5
    quotas = Quotas(cells={"NI": (1, 0, 0)})
    hard = {one.question_id: 0.0 for one in (easy, fine, dull)} | {hard_one.question_id: 1.0}
    chosen = choose_elite([easy, hard_one, fine, dull], hard, quotas, 0)
    assert [one.candidate for one in chosen] == [False, True, True, False]


def test_no_more_than_the_size_are_selected_and_all_of_them_are_candidates():
    questions = asked(90) + asked(90, images="SI") + asked(90, "MA", code="dxcs", level="Uni")
    hard = hardness(questions, [], WEIGHTS)
    chosen = choose_elite(questions, hard, replace(NOTEBOOK, size=50), 3)
    assert sum(one.selected for one in chosen) == 50
    assert all(one.candidate for one in chosen if one.selected)
    assert choose_elite(questions, hard, replace(NOTEBOOK, size=50), 3) == chosen
    assert choose_elite(questions, hard, replace(NOTEBOOK, size=50), 4) != chosen


def test_open_questions_are_no_candidates():
    questions = asked(3, "OP") + asked(3, "Other")
    assert not any(
        one.candidate for one in choose_elite(questions, hardness(questions, [], {}), NOTEBOOK, 0)
    )


def test_the_quotas_of_the_notebook_have_room_for_its_1_629_candidates():
    """Nine school subjects, university, two of society; T = 2 * cell in each of three classes."""
    places = sum(
        2 * (9 * school + university + 2 * society)
        for school, university, society in NOTEBOOK.cells.values()
    )
    assert places == 1_940
