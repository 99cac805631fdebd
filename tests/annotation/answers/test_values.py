"""From a question back to what people said when it was made."""

from bench_assets.annotation.answers.values import (
    entries,
    question_units,
    unit_answers,
)
from bench_assets.annotation.tasks import Unit, field_value
from tests.annotation.answers.test_validation import vote
from tests.fakes.answers import answer

ITEMS = [
    Unit(task="t/votes", unit_id="s001", images={"Image": "aa"}),
    Unit(task="t/votes", unit_id="s002", images={"Image": "aa"}),
    Unit(task="t/votes", unit_id="c", images={"Image": "bb"}),
]


def test_else_all_that_show_one_of_its_images_are() -> None:
    assert question_units("j/7", "", ["bb", "cc"], ITEMS) == [ITEMS[2]]
    assert question_units("j/7", "", ["dd"], ITEMS) == []


def test_answers_come_in_the_order_of_time() -> None:
    words = [vote("ben", minute=3, unit=ITEMS[0]), vote("ana", minute=1, unit=ITEMS[0])]
    words.append(vote("cem", minute=2, unit=ITEMS[1]))
    assert [one.person for one in unit_answers(ITEMS[:1], words)] == ["ana", "ben"]


def test_a_word_is_taken_without_its_blanks_and_entries_on_one_line_each():
    vote = answer("x", why=" far\ntoo long ", list=["a \n b", " ", "c"])
    assert (field_value(vote, "why"), field_value(vote, "nothing")) == ("far\ntoo long", "")
    assert (entries(vote, "list"), entries(vote, "nothing")) == (("a b", "c"), ())
