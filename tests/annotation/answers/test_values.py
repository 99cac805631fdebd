"""From a question back to what people said when it was made."""

from bench_assets.annotation.answers.values import question_units, unit_answers
from bench_assets.annotation.tasks import Unit
from tests.annotation.answers.test_validation import said

ITEMS = [
    Unit(task="t/votes", unit_id="s001", images={"Image": "aa"}),
    Unit(task="t/votes", unit_id="s002", images={"Image": "aa"}),
    Unit(task="t/votes", unit_id="c", images={"Image": "bb"}),
]


def test_an_item_that_the_question_names_is_the_one() -> None:
    assert question_units("codis/s001/2", "", ["aa"], ITEMS) == [ITEMS[0]]
    assert question_units("codis/1", "s002", ["aa"], ITEMS) == [ITEMS[1]]


def test_else_all_that_show_one_of_its_images_are() -> None:
    assert question_units("j/7", "", ["bb", "cc"], ITEMS) == [ITEMS[2]]
    assert question_units("j/7", "", ["dd"], ITEMS) == []


def test_what_was_said_comes_in_the_order_of_time() -> None:
    words = [said("ben", minute=3, unit=ITEMS[0]), said("ana", minute=1, unit=ITEMS[0])]
    words.append(said("cem", minute=2, unit=ITEMS[1]))
    assert [one.person for one in unit_answers(ITEMS[:1], words)] == ["ana", "ben"]
