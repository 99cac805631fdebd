"""Conversion of annotation tasks to Label Studio's XML, units to its tasks, its results to answers.

Images are shown on the left, texts and fields on the right.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from bench_assets.annotation.tasks import (
    AnnotationError,
    AnnotationTask,
    Answer,
    Field,
    Unit,
    Values,
    parse_timestamp,
)

_STYLE = (
    ".row {display: flex; gap: 24px; align-items: flex-start}"
    " .left {flex: 3; min-width: 320px; position: sticky; top: 0}"
    " .right {flex: 2; min-width: 320px}"
)
_HIDDEN = "unit"  # an object that every task has; controls must belong to one
_IMAGE = "image"
_INLINE = 60  # the most characters of all choices that are shown in one line
_ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"  # invisible


def label_config(annotation_task: AnnotationTask) -> str:
    """Write an annotation task as Label Studio's XML; controls are named after fields.

    Choices come with each unit, which may have its own.

    Raises:
        AnnotationError: If the task has an upload field, which Label Studio does not support.
    """
    points = has_points(annotation_task)
    view = Element("View")
    SubElement(view, "Style").text = _STYLE
    row = SubElement(view, "View", className="row")
    _add_images(SubElement(row, "View", className="left"), points=points)
    right = SubElement(row, "View", className="right")
    _add_texts(right)
    SubElement(SubElement(view, "View", style="display: none"), "Text", name=_HIDDEN, value="$key")
    for field in annotation_task.fields:
        SubElement(right, "Header", value=escape_text(field.label), size="5")
        right.append(_control(annotation_task, field))
    indent(view)
    return tostring(view, encoding="unicode")


def has_points(annotation_task: AnnotationTask) -> bool:
    """Whether regions on the first image are requested."""
    return any(field.kind == "points" for field in annotation_task.fields)


def escape_text(text: str) -> str:
    """Escape a text for Label Studio, which parses words after a dollar sign as variables.

    >>> unescape_text(escape_text("$5 or more"))
    '$5 or more'
    """
    return text.replace("$", f"${_ZERO_WIDTH_SPACE}")


def unescape_text(text: str) -> str:
    """Undo ``escape_text``."""
    return text.replace(f"${_ZERO_WIDTH_SPACE}", "$")


def _add_images(left: Element, *, points: bool) -> None:
    """Build the image views with headings; the image for points has a name of its own."""
    if points:
        SubElement(left, "Header", value="$heading", size="5")
        SubElement(left, "Image", name=_IMAGE, value="$image", maxWidth="100%", zoom="true")
    rest = "others" if points else "images"
    each = _add_repeater(left, rest)
    SubElement(each, "Header", value=f"${rest}[{{{{idx}}}}].heading", size="5")
    SubElement(
        each, "Image", name="image_{{idx}}", value=f"${rest}[{{{{idx}}}}].url",
        maxWidth="100%", zoom="true",
    )  # fmt: skip


def _add_texts(right: Element) -> None:
    each = _add_repeater(right, "shown")
    SubElement(each, "Header", value="$shown[{{idx}}].heading", size="5")
    SubElement(each, "Text", name="shown_{{idx}}", value="$shown[{{idx}}].text", valueType="text")


def _add_repeater(parent: Element, what: str) -> Element:
    return SubElement(parent, "Repeater", on=f"${what}", indexFlag="{{idx}}")


def _control(annotation_task: AnnotationTask, field: Field) -> Element:
    attributes = {"name": field.name, "toName": _IMAGE if field.kind == "points" else _HIDDEN}
    if field.required:
        attributes |= {
            "required": "true",
            "requiredMessage": f"Please answer: {escape_text(field.label)}",
        }
    if field.kind in ("choice", "choices"):
        inline = 0 < sum(map(len, field.choices)) <= _INLINE
        attributes |= {
            "choice": "single-radio" if field.kind == "choice" else "multiple",
            "showInline": str(inline).lower(),
        }
        return Element("Choices", attributes, value=f"$choices_{field.name}")
    if field.kind == "points":
        control = Element(
            "KeyPointLabels", attributes, strokeWidth="6"
        )  # px; 1 px would be invisible
        SubElement(control, "Label", value=escape_text(field.label), maxUsages=str(field.most))
        return control
    if field.kind == "image":
        raise AnnotationError(
            f"{annotation_task.name}, field {field.name}: Label Studio accepts no uploaded images."
            ' Set kind = "pages" or kind = "files".'
        )
    most, rows = (1, 4) if field.kind == "text" else (field.most, 1)
    return Element(
        "TextArea", attributes, rows=str(rows), maxSubmissions=str(most), editable="true"
    )


PROPOSALS = "proposals"  # common version of all proposals: a project shows one version
_PREFIX = "/data/local-files/?d=images/"


def task_of(unit: Unit, annotation_task: AnnotationTask) -> dict[str, Any]:
    """Build the task to import for a unit."""
    task: dict[str, Any] = {"data": data_of(unit, annotation_task)}
    if unit.proposal:
        task["predictions"] = [
            {"model_version": PROPOSALS, "result": list(_proposal_results(unit, annotation_task))}
        ]
    return task


def data_of(unit: Unit, annotation_task: AnnotationTask) -> dict[str, Any]:
    """Data of a task for annotators, without the key of an attention check."""
    images = [
        {"heading": heading, "url": f"{_PREFIX}{sha[:2]}/{sha}"}
        for heading, sha in unit.images.items()
    ]
    data: dict[str, Any] = {
        "key": unit.unit_id,
        "digest": unit.digest,
        "task_version": annotation_task.version,
        "shown": [{"heading": heading, "text": text} for heading, text in unit.shown.items()],
        "images": images,
        "choices": _to_pairs(unit.choices),
    }
    if has_points(annotation_task):
        first = images[0] if images else {"heading": "", "url": ""}
        data |= {"heading": first["heading"], "image": first["url"], "others": images[1:]}
    for field in annotation_task.fields:
        if field.kind in ("choice", "choices"):
            texts = unit.choices.get(field.name, field.choices)
            data[f"choices_{field.name}"] = [{"value": escape_text(text)} for text in texts]
    if unit.proposal:
        data |= {"proposal": _to_pairs(unit.proposal), "proposed_by": unit.proposed_by}
    return data


def unit_of(annotation_task: AnnotationTask, data: Mapping[str, Any]) -> Unit:
    """Parse a unit from Label Studio's present data.

    Raises:
        KeyError, TypeError, ValueError: If the task was not created by us.
    """
    return Unit(
        task=annotation_task.name,
        unit_id=_require_text(data["key"]),
        shown={_require_text(one["heading"]): _require_text(one["text"]) for one in data["shown"]},
        images={
            _require_text(one["heading"]): one["url"].rpartition("/")[2] for one in data["images"]
        },
        choices=_from_pairs(data["choices"]),
        proposal=_from_pairs(data.get("proposal", [])),
        proposed_by=_require_text(data.get("proposed_by", "")),
    )


def matches_digest(annotation_task: AnnotationTask, unit: Unit, data: Mapping[str, Any]) -> bool:
    """Whether a task's data still match its digest."""
    return dict(data) == data_of(unit, annotation_task)


def _proposal_results(unit: Unit, annotation_task: AnnotationTask) -> Iterable[dict[str, Any]]:
    for number, field in enumerate(annotation_task.fields):
        entries = [escape_text(one) for one in unit.proposal.get(field.name, ())]
        named = {"id": f"p{number}", "from_name": field.name, "to_name": "unit"}
        if entries and field.kind in ("choice", "choices"):
            yield named | {"type": "choices", "value": {"choices": entries}}
        elif entries and field.kind in ("text", "texts"):
            texts = list(unit.proposal[field.name])
            yield named | {"type": "textarea", "value": {"text": texts}}
        elif field.kind == "points":
            for place, point in enumerate(entries):
                x, y = (100 * float(share) for share in point.split())  # percent in Label Studio
                value = {"x": x, "y": y, "width": 0.5, "keypointlabels": [escape_text(field.label)]}
                yield named | {
                    "id": f"p{number}_{place}", "to_name": "image", "type": "keypointlabels",
                    "value": value,
                }  # fmt: skip


def _to_pairs(values: Values) -> list[list[Any]]:
    """Format fields as ordered pairs, because the database may sort keys of objects."""
    return [[name, list(entries)] for name, entries in values.items()]


def _from_pairs(pairs: Sequence[Sequence[Any]]) -> Values:
    return {_require_text(name): tuple(map(_require_text, entries)) for name, entries in pairs}


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {value!r:.60}")
    return value


TOOL = "label-studio"
SizeOf = Callable[[str], tuple[int, int] | None]
_PARSE_ERRORS = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError)
_ASPECT_TOLERANCE = 0.05  # relative tolerance of the aspect ratio: sizes are rounded to whole px


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Pseudonyms of annotators, never a name or address of the tool."""

    addresses: Mapping[int, str]  # account id -> e-mail address
    names: Mapping[str, str]  # e-mail address -> pseudonym, from bench.toml

    def of(self, account: object) -> str:
        """Pseudonym of an account, given by its id or an object with it; "" if unknown.

        >>> Pseudonyms({3: "Ana@lab.example"}, {"ana@lab.example": "ana"}).of({"id": 3})
        'ana'
        >>> Pseudonyms({}, {}).of(7)
        'user 7'
        """
        number = account.get("id") if isinstance(account, dict) else account
        if not isinstance(number, int) or isinstance(number, bool):
            return ""
        known = {address.casefold(): name for address, name in self.names.items()}
        return known.get(self.addresses.get(number, "").casefold(), f"user {number}")


def answers_of(
    annotation_task: AnnotationTask,
    project: int,
    task: Mapping[str, Any],
    who: Pseudonyms,
    size_of: SizeOf = lambda _: None,
) -> Iterator[Answer]:
    """Answers to a task of an export; an unreadable one has a complaint.

    Args:
        annotation_task: The present version; ``task`` may be of an earlier one.
        project: Id of the project.
        task: Exported task with its ``annotations``.
        who: Pseudonyms of the annotators.
        size_of: Width and height of an upright image, by SHA-256.
    """
    unit, version, fault = _parse_unit(annotation_task, task.get("data"))
    nothing = Answer(
        task=annotation_task.name,
        task_version=version,
        unit_id=unit.unit_id if unit else "",
        unit_digest=unit.digest if unit else "",
        person="",
        values={},
        at="",
        changed_at="",
        proposed_by=unit.proposed_by if unit else "",
        tool=TOOL,
        complaint=fault,
    )
    for annotation in annotations_of(task):
        number = annotation.get("id", "?")
        empty = replace(nothing, tool_id=f"{project}/{task.get('id', '?')}/{number}")
        try:
            answer = _parse_answer(empty, annotation, who)
            _check_size(unit, annotation["result"], size_of)
            yield answer
        except _PARSE_ERRORS as error:
            complaint = f"annotation {number}: no answer: {type(error).__name__} {error}"
            yield replace(empty, complaint=fault or complaint)


def annotations_of(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Annotations of a task, unchanged."""
    found = task.get("annotations")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _parse_unit(annotation_task: AnnotationTask, data: Any) -> tuple[Unit | None, str, str]:  # noqa: ANN401  (JSON)
    """Unit of a task, the version of its annotation task, and why it is not trusted."""
    try:
        unit, version = unit_of(annotation_task, data), data["task_version"]
    except _PARSE_ERRORS:
        return None, "", "its task was not created by bench, or was changed in Label Studio"
    if version == annotation_task.version and not matches_digest(annotation_task, unit, data):
        return unit, version, "the content of its task was changed in Label Studio"
    return unit, version, ""


def _parse_answer(empty: Answer, annotation: Mapping[str, Any], who: Pseudonyms) -> Answer:
    person, changed_by = who.of(annotation["completed_by"]), who.of(annotation.get("updated_by"))
    seconds = annotation.get("lead_time")
    return replace(
        empty,
        person=person,
        values=_parse_result(annotation["result"]),
        at=parse_timestamp(annotation["created_at"]),
        changed_at=parse_timestamp(annotation.get("updated_at") or annotation["created_at"]),
        changed_by="" if changed_by == person else changed_by,
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
        skipped=annotation.get("was_cancelled") is True,
        complaint=empty.complaint or ("" if person else "no author: the account was deleted"),
    )


def _parse_result(result: Sequence[Mapping[str, Any]]) -> Values:
    found: dict[str, tuple[str, ...]] = {}
    for part in result:
        name = part["from_name"]
        if turn := part.get("image_rotation"):
            raise ValueError(f"points are on an image that was rotated by {turn} degrees")
        found[name] = found.get(name, ()) + tuple(_result_entries(part["value"]))
    return {name: entries for name, entries in found.items() if entries}


def _check_size(unit: Unit | None, result: Sequence[Mapping[str, Any]], size_of: SizeOf) -> None:
    """Check that points are on the upright image, by the image size in their regions.

    Raises:
        ValueError: If the browser showed it on its side.
    """
    regions = [
        one for one in result if "keypointlabels" in one["value"] and "original_width" in one
    ]
    size = size_of(next(iter(unit.images.values()))) if regions and unit and unit.images else None
    for one in regions if size else ():
        width, height = one["original_width"], one["original_height"]
        if size and abs(width * size[1] / (height * size[0]) - 1) > _ASPECT_TOLERANCE:
            raise ValueError(
                f"points are on an image of {width} x {height} px, the upright image has "
                f"{size[0]} x {size[1]} px"
            )


def _result_entries(value: Mapping[str, Any]) -> Iterator[str]:
    """Entries of one part of a result.

    Raises:
        ValueError: If it has neither choices, text nor a region.
        TypeError: If an entry is not a text.
    """
    if "keypointlabels" in value:
        yield f"{value['x'] / 100:.6f} {value['y'] / 100:.6f}"  # Label Studio has percent
        return
    kind = next((name for name in ("choices", "text") if name in value), None)
    if kind is None:
        raise ValueError(f"expected choices, text or a region, got {', '.join(value) or 'nothing'}")
    entries = value[kind]
    for one in [entries] if isinstance(entries, str) else entries:
        if not isinstance(one, str):
            raise TypeError(f"expected a text, got {one!r:.60}")
        if one.strip():
            yield unescape_text(one).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
