from collections import Counter
from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.counting import build, wrong_numbers
from tests.suites.blink.builders.layouts import drafts, image, reasons, write_json


def tallyqa(folder, **fields):
    image(folder / "VG_100K" / "1.jpg")
    entry = {
        "image": "VG_100K/1.jpg",
        "question": "How many giraffes are sitting?",
        "answer": 2,
        "question_id": 31,
        "issimple": False,
    } | fields
    write_json(folder / "test.json", [entry])
    return folder


@pytest.mark.parametrize("place", range(4))
def test_the_right_number_stands_in_its_place_among_three_others(tmp_path, place):
    (draft,) = drafts(build(tallyqa(tmp_path), Random(0)))
    shown = draft.show(place, draft.marks)
    assert shown.options[place] == "2"
    assert len(set(shown.options)) == 4
    assert shown.asked.question == "How many giraffes are sitting?"
    assert draft.places == (0, 1, 2, 3)


@pytest.mark.parametrize("right", [0, 1, 3, 15])
def test_wrong_numbers_are_near_and_never_below_nothing(right):
    for seed in range(50):
        wrong = wrong_numbers(right, 4, Random(seed))
        assert len({right, *wrong}) == 4
        assert all(number >= 0 and abs(number - right) <= 4 for number in wrong)


def test_a_simple_question_is_left_out(tmp_path):
    assert reasons(build(tallyqa(tmp_path, issimple=True), Random(0))) == [
        "simple: a detector alone could answer it"
    ]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"answer": -1}, "test.json, entry 1: field 'answer' is -1", id="below 0"),
        pytest.param({"answer": "two"}, "test.json, entry 1: field 'answer' is 'two'", id="word"),
        pytest.param({"image": "/etc/hosts"}, "entry 1: image '/etc/hosts' does not", id="path"),
    ],
)
def test_an_entry_of_another_form_is_named(tmp_path, fields, complaint):
    with pytest.raises(SourceError, match=complaint):
        list(build(tallyqa(tmp_path, **fields), Random(0)))


def test_questions_in_fours_share_their_numbers_each_right_once(tmp_path):
    image(tmp_path / "1.jpg")
    answers = [3, 5, 1, 2, 0, 2, 4, 3, 9]  # 0 to 3, 2 to 5, and one by itself
    entries = [
        {"image": "1.jpg", "question": "?", "answer": n, "question_id": nth, "issimple": False}
        for nth, n in enumerate(answers)
    ]
    write_json(tmp_path / "test.json", entries)
    shown = [draft.show(0, draft.marks).options for draft in drafts(build(tmp_path, Random(0)))]
    offered = Counter(frozenset(options) for options in shown[:8])
    assert offered == {frozenset("0123"): 4, frozenset("2345"): 4}
    assert sorted(options[0] for options in shown[:8]) == [*"01223345"]
    assert shown[8][0] == "9"  # the one that is left over comes last
