"""The corpus of injections, and finding one of it in a response."""

import pytest

from bench_assets.audit.judges.prompt_injections import (
    find_injection,
    load_injections,
    strip_injections,
)


def test_there_are_a_hundred_of_many_forms_and_languages():
    found = load_injections()
    assert len(found) == len({one.name for one in found}) == len({one.text for one in found}) == 100
    assert len({one.form for one in found}) >= 10
    assert len({one.language for one in found}) >= 15


def test_each_holds_the_response_that_it_is_put_into():
    assert all(
        one.append_to("it is a heron").startswith("it is a heron\n\n") for one in load_injections()
    )
    assert not any("{response}" in one.append_to("it is a heron") for one in load_injections())


def test_what_is_put_into_a_response_is_found_there():
    found = [find_injection(one.append_to("it is a heron").upper()) for one in load_injections()]
    assert sum(one is not None for one in found) >= 80  # short ones could be answers


@pytest.mark.parametrize(
    "response",
    [
        "right",
        "The answer is yes.",
        '{"answer": "B"}',
        "1. The clock shows noon.\n2. So it is day.\nIt is right of the door.",
        "I ignore the sign, since the rules say that it does not count.",
        "",
    ],
)
def test_an_answer_is_no_injection(response):
    assert find_injection(response) is None


def test_without_it_a_response_is_what_it_was():
    found = [
        one.append_to("it is a heron") for one in load_injections() if "{response}" not in one.text
    ]
    kept = [strip_injections(text) for text in found if find_injection(text)]
    assert len(kept) >= 80
    assert all(text.rstrip(" \n.!\"'”»」。") == "it is a heron" for text in kept)
