"""Items as tasks of Label Studio, and back: what it shows is read from what it holds."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench_assets.people.forms import Form, Item, Values
from resources.people.label_studio.xml import has_points, spoken

PROPOSALS = "proposals"  # the version that all of them have: a project shows those of one
_PREFIX = "/data/local-files/?d=images/"


def task_of(item: Item, form: Form) -> dict[str, Any]:
    """Write an item as a task to import."""
    task: dict[str, Any] = {"data": data_of(item, form)}
    if item.proposal:
        task["predictions"] = [{"model_version": PROPOSALS, "result": list(_proposed(item, form))}]
    return task


def data_of(item: Item, form: Form) -> dict[str, Any]:
    """Write what a person is shown. Attention checks do not show what is right."""
    pictures = [
        {"heading": heading, "url": f"{_PREFIX}{sha[:2]}/{sha}"}
        for heading, sha in item.pictures.items()
    ]
    data: dict[str, Any] = {
        "key": item.item_id,
        "digest": item.digest,
        "form_version": form.version,
        "shown": [{"heading": heading, "text": text} for heading, text in item.shown.items()],
        "pictures": pictures,
        "choices": _pairs(item.choices),
    }
    if has_points(form):
        first = pictures[0] if pictures else {"heading": "", "url": ""}
        data |= {"heading": first["heading"], "picture": first["url"], "others": pictures[1:]}
    for field in form.fields:
        if field.kind in ("choice", "choices"):
            texts = item.choices.get(field.name, field.choices)
            data[f"choices_{field.name}"] = [{"value": spoken(text)} for text in texts]
    if item.proposal:
        data |= {"proposal": _pairs(item.proposal), "proposed_by": item.proposed_by}
    return data


def item_of(form: Form, data: Mapping[str, Any]) -> Item:
    """Read an item out of what Label Studio shows now, whatever it says of itself.

    Raises:
        KeyError, TypeError, ValueError: If we never made such a task.
    """
    return Item(
        form=form.name,
        item_id=_text(data["key"]),
        shown={_text(one["heading"]): _text(one["text"]) for one in data["shown"]},
        pictures={_text(one["heading"]): one["url"].rpartition("/")[2] for one in data["pictures"]},
        choices=_values(data["choices"]),
        proposal=_values(data.get("proposal", [])),
        proposed_by=_text(data.get("proposed_by", "")),
    )


def is_as_asked(form: Form, item: Item, data: Mapping[str, Any]) -> bool:
    """Whether a task shows what its digest is of: anybody may change what it shows."""
    return dict(data) == data_of(item, form)


def _proposed(item: Item, form: Form) -> Iterable[dict[str, Any]]:
    for number, field in enumerate(form.fields):
        given = [spoken(one) for one in item.proposal.get(field.name, ())]
        named = {"id": f"p{number}", "from_name": field.name, "to_name": "item"}
        if given and field.kind in ("choice", "choices"):
            yield named | {"type": "choices", "value": {"choices": given}}
        elif given and field.kind in ("text", "texts"):
            texts = list(item.proposal[field.name])
            yield named | {"type": "textarea", "value": {"text": texts}}
        elif field.kind == "points":
            for place, point in enumerate(given):
                x, y = (100 * float(share) for share in point.split())  # percent, as it has them
                value = {"x": x, "y": y, "width": 0.5, "keypointlabels": [spoken(field.label)]}
                yield named | {
                    "id": f"p{number}_{place}", "to_name": "picture", "type": "keypointlabels",
                    "value": value,
                }  # fmt: skip


def _pairs(values: Values) -> list[list[Any]]:
    """Write by field in order: a data base may sort the names of an object."""
    return [[name, list(given)] for name, given in values.items()]


def _values(pairs: Sequence[Sequence[Any]]) -> Values:
    return {_text(name): tuple(map(_text, given)) for name, given in pairs}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r:.60}")
    return value
