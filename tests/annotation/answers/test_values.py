from bench_assets.annotation.answers.values import entries, question_units, unit_answers
from bench_assets.annotation.tasks import Unit, field_value
from tests.annotation.answers.test_validation import vote
from tests.fakes.answers import answer

ITEMS = [
    Unit(task="t/votes", unit_id="s001", images={"Image": "aa"}),
    Unit(task="t/votes", unit_id="s002", images={"Image": "aa"}),
    Unit(task="t/votes", unit_id="c", images={"Image": "bb"}),
]


def test_a_question_without_units_of_its_own_has_those_that_show_its_images() -> None:
    (_, _, unit_of_bb) = ITEMS
    assert question_units("j/7", "", ["bb", "cc"], ITEMS) == [unit_of_bb]
    assert question_units("j/7", "", ["dd"], ITEMS) == []


def test_answers_of_units_are_in_the_order_of_time() -> None:
    first, second, _ = ITEMS
    ben, ana = vote("ben", minute=3, unit=first), vote("ana", minute=1, unit=first)
    cem = vote("cem", minute=2, unit=second)
    assert unit_answers([first], [ben, ana, cem]) == [ana, ben]


def test_a_value_is_stripped():
    assert field_value(answer("x", why=" far\ntoo long "), "why") == "far\ntoo long"


def test_entries_are_one_line_each_without_empty_ones():
    assert entries(answer("x", list=["a \n b", " ", "c"]), "list") == ("a b", "c")


def test_a_field_without_an_answer_is_empty():
    assert field_value(answer("x"), "why") == ""
    assert entries(answer("x"), "list") == ()
