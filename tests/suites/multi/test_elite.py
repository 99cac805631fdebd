from collections import Counter
from dataclasses import replace
from math import isnan

import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.suites.multi.construction.selection import (
    NOTEBOOK,
    WEIGHTS,
    Quotas,
    choose_elite,
    hardness,
)
from bench_assets.suites.multi.dataset.questions import link_knowledge, select_usable
from bench_assets.suites.multi.dataset.source import Knowledge
from bench_assets.suites.multi.studies import CONDITIONS, information_gain
from tests.suites.multi.rows import item, question


def score(name, points, most=1.0, model="GPT-4"):
    return Score(question_id=name, model=model, condition="main", points=points, max_points=most)


def questions_of(n, kind="SA", code="czsx", images="NI", **labels):
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
    one, other = questions_of(2)
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
    (one,) = questions_of(1)
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
    questions = [one for kind, n in have.items() for one in questions_of(n, kind)]
    hard = hardness(questions, [], WEIGHTS)
    chosen = choose_elite(questions, hard, NOTEBOOK, 0)
    assert Counter(one.type for one in chosen if one.candidate) == expected


def test_the_hardest_come_first_and_then_difficulty_and_quality():
    """Quota 4: one MA, one FB, two SA; 1.5 * difficulty + quality breaks ties."""
    easy, hard_one, fine, dull = questions_of(4)
    fine = replace(fine, labels=fine.labels | {"difficulty": "4", "quality": "1"})  # 7.0
    dull = replace(dull, labels=dull.labels | {"difficulty": "2", "quality": "3.5"})  # 6.5
    easy = replace(easy, labels=easy.labels | {"difficulty": "1", "quality": "1"})  # 2.5
    quotas = Quotas(cells={"NI": (1, 0, 0)})
    hard = {one.question_id: 0.0 for one in (easy, fine, dull)} | {hard_one.question_id: 1.0}
    chosen = choose_elite([easy, hard_one, fine, dull], hard, quotas, 0)
    assert [one.candidate for one in chosen] == [False, True, True, False]


def test_no_more_than_the_size_are_selected_and_all_of_them_are_candidates():
    questions = (
        questions_of(90)
        + questions_of(90, images="SI")
        + questions_of(90, "MA", code="dxcs", level="Uni")
    )
    hard = hardness(questions, [], WEIGHTS)
    chosen = choose_elite(questions, hard, replace(NOTEBOOK, size=50), 3)
    assert sum(one.selected for one in chosen) == 50
    assert all(one.candidate for one in chosen if one.selected)
    assert choose_elite(questions, hard, replace(NOTEBOOK, size=50), 3) == chosen
    assert choose_elite(questions, hard, replace(NOTEBOOK, size=50), 4) != chosen


def test_open_questions_are_no_candidates():
    questions = questions_of(3, "OP") + questions_of(3, "Other")
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


PIECES = {name: Knowledge(name=name, content="……") for name in ("函数", "二次函数", "x")}


@pytest.mark.parametrize(
    ("fields", "search", "expected"),
    [
        pytest.param({"knowledge": ("函数", "集合")}, True, ("函数", "attached"), id="the first"),
        pytest.param(
            {"general": "二次函数的图象"}, True, ("二次函数", "named in the text"), id="the longest"
        ),
        pytest.param(
            {"analysis": "由函数可知"}, True, ("函数", "named in the text"), id="in the analysis"
        ),
        pytest.param({"knowledge": ("集合",)}, True, ("", "uncovered"), id="attached but lost"),
        pytest.param(
            {"general": "x"}, True, ("", "uncovered"), id="a name too short to search for"
        ),
        pytest.param(
            {"general": "函数"}, False, ("", "uncovered"), id="the release is not searched"
        ),
    ],
)
def test_a_piece_comes_to_its_question(fields, search, expected):
    (found,) = link_knowledge([item(**fields)], PIECES, search=search)
    assert (found.knowledge, found.how) == expected


def test_pieces_without_text_or_with_lost_images_are_rejected():
    pieces = [
        Knowledge(name="a", content="[IMAGE_1]", images=("1.png",)),
        Knowledge(name="b", content="[IMAGE_1]", images=("2.png",)),
        Knowledge(name="c", content=" "),
        Knowledge(name="d", content="[IMAGE_1][IMAGE_2]", images=("1.png",)),
        Knowledge(name="e", content="[IMAGE_0]", images=("1.png",)),
    ]
    checked = select_usable(pieces, {"1.png"})
    assert [piece.name for piece in checked.rows] == ["a"]
    assert [(one.entry, one.reason) for one in checked.rejections] == [
        ("knowledge b", "images are missing: 2.png"),
        ("knowledge c", "the text is empty"),
        ("knowledge d", "it refers to image 2 of 1"),
        ("knowledge e", "it refers to image 0 of 1"),
    ]


def scored(example, points):
    return Score(question_id=example.question_id, model="m", condition="c", points=points)


ONE = question(question_id="multi/a_0", group_id="a", labels={"images": "SI"})
THREE = question("MA", "ABC", question_id="multi/b_0", group_id="b", labels={"images": "SI"})
PLAIN = question(question_id="multi/c_0", group_id="c")
NONE = {condition: [] for condition in CONDITIONS}


def gains(**scores):
    rows = information_gain([ONE, THREE, PLAIN], NONE | scores, "m")
    return {(row.condition, row.category): row for row in rows}


def test_the_gain_is_in_points_over_points_and_paired():
    found = gains(
        main=[scored(ONE, 1.0), scored(THREE, 3.0)], no_image=[scored(ONE, 1.0), scored(THREE, 1.0)]
    )["main", "SI"]
    assert (found.value, found.baseline, found.n_questions) == (1.0, 0.5, 2)
    assert found.gain == pytest.approx(0.5)
    assert -1 <= found.low <= found.gain <= found.high <= 1


def test_a_question_without_a_response_on_one_side_is_left_out_of_both():
    found = gains(
        main=[scored(ONE, 1.0), scored(THREE, None)],
        no_image=[scored(ONE, 0.0), scored(THREE, 3.0)],
    )["main", "SI"]
    assert (found.value, found.baseline, found.n_questions) == (1.0, 0.0, 1)


def test_knowledge_is_compared_over_all_questions_with_the_condition_without_it():
    found = gains(with_knowledge=[scored(PLAIN, 1.0)], main=[scored(PLAIN, 0.0)])
    row = found["with_knowledge", "all"]
    assert (row.compared_with, row.gain, row.n_questions) == ("main", 1.0, 1)


def test_without_questions_there_is_no_gain_rather_than_none():
    row = gains()["main", "MI"]
    assert isnan(row.gain)
    assert row.n_questions == 0


def test_the_comparisons_are_those_of_tables_6_and_8():
    assert set(gains()) == {
        ("main", "SI"),
        ("main", "MI"),
        ("captions_for_images", "SI"),
        ("captions_for_images", "MI"),
        ("ocr_for_images", "SI"),
        ("ocr_for_images", "MI"),
        ("with_knowledge", "all"),
    }
