"""Numbers for texts, however many there are."""

from bench_assets.core.tables.large_tables import TextIndex


def test_a_text_keeps_its_number_while_places_are_added():
    some = TextIndex()
    first = [some.number(f"text {n}") for n in range(5000)]
    assert first == list(range(5000))
    assert [some.number(f"text {n}") for n in (0, 511, 512, 4999)] == [0, 511, 512, 4999]
    assert len(some) == 5000


def test_what_never_came_has_no_number():
    some = TextIndex()
    assert some.find("a") is None
    some.number("a")
    assert (some.find("a"), some.find("b"), len(some)) == (0, None, 1)
