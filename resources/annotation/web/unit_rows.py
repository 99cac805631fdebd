"""Forms and items as they lie in the file: JSON, and what is made of it again."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bench_assets.annotation.tasks.backend import PeopleError
from bench_assets.annotation.tasks.forms import Field, Form, Unit, Values


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownItem:
    """What a person sees of an item: neither what others say nor what is right."""

    number: int  # of its row
    form: int
    item_id: str
    shown: Mapping[str, str]
    images: Mapping[str, str]
    choices: Values
    proposal: Values
    proposed_by: str


def written_form(form: Form) -> str:
    """Write a form."""
    return json.dumps(asdict(form))


def read_form(told: str) -> Form:
    """Read a form again."""
    entry = _parsed(told)
    fields = tuple(Field(**{**one, "choices": tuple(one["choices"])}) for one in entry["fields"])
    return Form(**{**entry, "fields": fields})


def written_item(item: Unit) -> str:
    """Write what a person is shown of an item; never what is right."""
    names = ("shown", "images", "choices", "proposal", "proposed_by")
    return json.dumps({name: getattr(item, name) for name in names}, default=dict)


def read_item(number: int, form: int, item_id: str, told: str) -> ShownItem:
    """Read what a person is shown."""
    entry = _parsed(told)
    for name in ("choices", "proposal"):
        entry[name] = read_values(entry[name])
    return ShownItem(number=number, form=form, item_id=item_id, **entry)


def written_values(values: Values) -> str:
    """Write what somebody filled in."""
    return json.dumps(dict(values))


def read_values(entry: dict[str, Any]) -> Values:
    """Read what somebody filled in."""
    return {name: tuple(given) for name, given in entry.items()}


def read_said(told: str) -> Values:
    """Read what ``written_values`` wrote.

    Raises:
        PeopleError: If it is damaged.
    """
    return read_values(_parsed(told))


def _parsed(told: str) -> Any:  # noqa: ANN401
    try:
        return json.loads(told)
    except (ValueError, RecursionError) as why:
        raise PeopleError(f"people/pages.sqlite: an entry is damaged: {why}") from why
