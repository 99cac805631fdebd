"""Examples of rules and cases: tables with a kind, a text and the fields that the kind needs."""

from typing import Any

from bench_assets.core.judging.verdicts import read_grade
from bench_assets.core.reading.blanks import read_blanks
from bench_assets.core.reading.choices import read_choice, read_choices
from bench_assets.core.reading.numbers import read_number
from bench_assets.core.reading.readings import Reading
from bench_assets.core.reading.yes_no import read_yes_no

LETTERS_ONLY = [""] * 4


def read_example(example: dict[str, Any]) -> Reading[Any] | None:
    """Read the text of an example by its kind; numbers have no unit, and grades no form."""
    text, options = example["text"], example.get("options", LETTERS_ONLY)
    match example["kind"]:
        case "choice":
            return read_choice(text, options)
        case "choices":
            return read_choices(text, options)
        case "yes_no":
            return read_yes_no(text)
        case "blanks":
            return read_blanks(text, example["n"])
        case "grade":
            grade = read_grade(text, 1, 5)
            evidence = (0, len(text))
            return None if grade is None else Reading(value=grade, form="", evidence=evidence)
    reading = read_number(text)
    return reading and reading.with_value(reading.value.value)


def expected_value(example: dict[str, Any]) -> object:
    """The value that an example states; None if nothing is to be read."""
    value = example.get("value")
    separator = "\n" if example["kind"] == "blanks" else " "
    return separator.join(value) if isinstance(value, list) else value
