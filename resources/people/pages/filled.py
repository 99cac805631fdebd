"""What was filled in, field by field: from what browsers send to values, and back again."""

from collections.abc import Mapping

from bench_assets.people.fitting import misfits
from bench_assets.people.forms import Field, Form, Values
from resources.people.pages.bodies import Sent
from resources.people.pages.rows import ShownItem

LISTED = ("texts", "points")
"""Kinds whose entries are typed a line each."""


def values_of(form: Form, sent: Sent) -> Values:
    """Take the values of a form's fields out of what was sent; what is empty is absent."""
    found = {one.name: _given(one, sent) for one in form.fields}
    return {name: given for name, given in found.items() if given}


def complaints(form: Form, item: ShownItem, values: Values) -> dict[str, str]:
    """Say by field what does not fit; nothing if all does."""
    found: dict[str, str] = {}
    for one in form.fields:
        alone = Form(name=form.name, title="", instructions="", fields=(one,))
        given = {one.name: values[one.name]} if one.name in values else {}
        if wrong := misfits(given, alone, item.choices):
            found[one.name] = _in_words(one, wrong)
    return found


def typed(one: Field, values: Values) -> str:
    """Write what is in a text area, as it is typed there."""
    given = values.get(one.name, ())
    return "\n".join(given) if one.kind in LISTED else (given[0] if given else "")


def choices_of(form: Form, item: ShownItem) -> Mapping[str, tuple[str, ...]]:
    """The choices of each field, the item's own where it has some."""
    return {one.name: item.choices.get(one.name, one.choices) for one in form.fields}


def _given(one: Field, sent: Sent) -> tuple[str, ...]:
    given = sent.texts.get(one.name, [])
    if one.kind in LISTED:
        lines = (line.strip() for text in given for line in text.split("\n"))
        return tuple(dict.fromkeys(line for line in lines if line))
    if one.kind == "choices":
        return tuple(dict.fromkeys(given))
    return tuple(text for text in given if text.strip())


def _in_words(one: Field, wrong: list[str]) -> str:
    """Say it without the field's name, which stands above it."""
    said = "; ".join(text.removeprefix(f"{one.name}: ").removeprefix(one.name) for text in wrong)
    said = said.strip()
    if said == "is empty":
        return "Please choose." if one.kind.startswith("choice") else "Please fill this in."
    return said[:1].upper() + said[1:] + "."
