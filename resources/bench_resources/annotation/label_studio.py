"""Label Studio's files: labelling configuration, tasks to import, and its JSON export.

Controls are named after the fields; choices come with each task, because a unit may have its own.
An image is a data URI in its task: Label Studio needs no storage for it. Images are shown on the
left, texts and fields on the right. A dollar sign is followed by a zero-width space, because Label
Studio takes the word after it for a variable.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from bench_assets.annotation.tasks import (
    MARK_KINDS,
    AnnotationError,
    AnnotationTask,
    Answer,
    Field,
    Unit,
    Values,
    parse_timestamp,
)
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, read_entries, require_field

TOOL = "label-studio"

_STYLE = (
    ".row {display: flex; gap: 24px; align-items: flex-start}"
    " .left {flex: 3; min-width: 320px; position: sticky; top: 0}"
    " .right {flex: 2; min-width: 320px}"
)
_HIDDEN = "unit"  # an object that every task has: a control must belong to one
_IMAGE = "image"  # the image to mark
_INLINE = 60  # characters of all choices that are shown in one line, at most
_MARK_TAGS = {"points": "KeyPointLabels", "boxes": "RectangleLabels"}
_DOLLAR = "$\N{ZERO WIDTH SPACE}"


def labelling_config(task: AnnotationTask) -> str:
    """Write the labelling configuration of a task, as XML.

    Raises:
        AnnotationError: If the task has an upload field, which Label Studio does not support.
    """
    view = Element("View")
    SubElement(view, "Style").text = _STYLE
    row = SubElement(view, "View", className="row")
    _add_images(SubElement(row, "View", className="left"), marked=_has_marks(task))
    right = SubElement(row, "View", className="right")
    repeater = SubElement(right, "Repeater", on="$shown", indexFlag="{{idx}}")
    SubElement(repeater, "Header", value="$shown[{{idx}}].heading", size="5")
    SubElement(
        repeater, "Text", name="shown_{{idx}}", value="$shown[{{idx}}].text", valueType="text"
    )
    SubElement(SubElement(view, "View", style="display: none"), "Text", name=_HIDDEN, value="$key")
    for field in task.fields:
        SubElement(right, "Header", value=_escape(field.label), size="5")
        right.append(_control(task, field))
    indent(view)
    return tostring(view, encoding="unicode") + "\n"


def import_task(task: AnnotationTask, unit: Unit, image_url: Callable[[str], str]) -> Entry:
    """Build the task to import for a unit, without the key of an attention check.

    ``image_url`` returns the URL of an image, given its SHA-256.
    """
    images = [
        {"heading": heading, "url": image_url(sha256)} for heading, sha256 in unit.images.items()
    ]
    data: Entry = {
        "key": unit.unit_id,
        "digest": unit.digest,
        "task_version": task.version,
        "shown": [{"heading": heading, "text": text} for heading, text in unit.shown.items()],
        "images": images,
    }
    if _has_marks(task):
        first = images[0] if images else {"heading": "", "url": ""}
        data |= {"heading": first["heading"], _IMAGE: first["url"], "images": images[1:]}
    for field in task.fields:
        if field.kind in ("choice", "choices"):
            choices = unit.choices.get(field.name, field.choices)
            data[f"choices_{field.name}"] = [{"value": _escape(text)} for text in choices]
    return {"data": data}


def read_export(task: AnnotationTask, file: Path, names: Mapping[str, str]) -> Iterator[Answer]:
    """Read the annotations of a JSON export; an unreadable one has a complaint.

    ``names`` holds pseudonyms by e-mail address or number of an account.

    Raises:
        SourceError: If the file cannot be read, or is not a JSON list.
    """
    table = Table[Answer]()
    for located in read_entries(file):
        annotations: list[Any] = []
        with table.rejecting(located.where):
            annotations = _annotations(located.entry)
        where = located.where.removeprefix(f"{file.parent}/")
        for number, annotation in enumerate(annotations, 1):
            annotation_where = f"{where}, annotation {number}"
            with table.rejecting(annotation_where):
                yield _parse_annotation(task, located.entry, annotation, annotation_where, names)
    for rejection in table.rejections:
        yield Answer(
            task=task.name, task_version="", unit_id="", unit_digest="", person="", values={},
            at="", changed_at="", tool=TOOL, tool_id=rejection.entry, complaint=rejection.reason,
        )  # fmt: skip


def _annotations(entry: Entry) -> list[Any]:
    annotations = entry.get("annotations")
    if not isinstance(annotations, list):
        raise SourceError("no list of annotations. Export in the format JSON, not JSON-MIN")
    return annotations


def _add_images(left: Element, *, marked: bool) -> None:
    """Build the images with their headings; the one to mark has a name of its own."""
    if marked:
        SubElement(left, "Header", value="$heading", size="5")
        SubElement(left, "Image", name=_IMAGE, value=f"${_IMAGE}", maxWidth="100%", zoom="true")
    repeater = SubElement(left, "Repeater", on="$images", indexFlag="{{idx}}")
    SubElement(repeater, "Header", value="$images[{{idx}}].heading", size="5")
    SubElement(
        repeater, "Image", name="image_{{idx}}", value="$images[{{idx}}].url",
        maxWidth="100%", zoom="true",
    )  # fmt: skip


def _control(task: AnnotationTask, field: Field) -> Element:
    """Build the control of a field, which has the field's name; uploads are refused."""
    attributes = {"name": field.name, "toName": _IMAGE if field.kind in MARK_KINDS else _HIDDEN}
    if field.required:
        message = f"Please answer: {_escape(field.label)}"
        attributes |= {"required": "true", "requiredMessage": message}
    if field.kind in ("choice", "choices"):
        inline = 0 < sum(map(len, field.choices)) <= _INLINE
        mode = "single-radio" if field.kind == "choice" else "multiple"
        attributes |= {"choice": mode, "showInline": str(inline).lower()}
        return Element("Choices", attributes, value=f"$choices_{field.name}")
    if field.kind in MARK_KINDS:
        control = Element(_MARK_TAGS[field.kind], attributes, strokeWidth="6")  # px: 1 is invisible
        most = 1 if field.choices else field.most
        for name in field.choices or (field.label,):
            SubElement(control, "Label", value=_escape(name), maxUsages=str(most))
        return control
    if field.kind == "image":
        raise AnnotationError(
            f"{task.name}, field {field.name}: Label Studio takes no uploaded images. Use the"
            ' annotation pages: kind = "pages"'
        )
    most, rows = (1, 4) if field.kind == "text" else (field.most, 1)
    return Element(
        "TextArea", attributes, rows=str(rows), maxSubmissions=str(most), editable="true"
    )


def _has_marks(task: AnnotationTask) -> bool:
    return any(field.kind in MARK_KINDS for field in task.fields)


def _escape(text: str) -> str:
    return text.replace("$", _DOLLAR)


def _unescape(text: str) -> str:
    return text.replace(_DOLLAR, "$")


def _parse_annotation(
    task: AnnotationTask, entry: Entry, annotation: Entry, where: str, names: Mapping[str, str]
) -> Answer:
    data = require_field(entry, "data", dict, where)
    try:
        author = _parse_account(annotation["completed_by"])
        editor = _parse_account(annotation.get("updated_by") or annotation["completed_by"])
        seconds, skipped = annotation.get("lead_time"), annotation.get("was_cancelled") is True
        return Answer(
            task=task.name,
            task_version=require_field(data, "task_version", str, where),
            unit_id=require_field(data, "key", str, where),
            unit_digest=require_field(data, "digest", str, where),
            person=_pseudonym(author, names),
            values={} if skipped else _parse_result(task, annotation["result"]),
            at=parse_timestamp(annotation["created_at"]),
            changed_at=parse_timestamp(annotation.get("updated_at") or annotation["created_at"]),
            changed_by="" if editor.number == author.number else _pseudonym(editor, names),
            seconds=float(seconds) if isinstance(seconds, int | float) else None,
            skipped=skipped,
            tool=TOOL,
            tool_id=where,
        )
    except KeyError as error:
        raise SourceError(f"{where}: no field {error}") from error
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise SourceError(f"{where}: not an answer: {error}") from error


class _Account(NamedTuple):
    number: int
    email: str


def _parse_account(exported: object) -> _Account:
    """Parse an account, which is exported as its number or as an object."""
    fields = exported if isinstance(exported, dict) else {"id": exported}
    number = fields.get("id")
    if type(number) is not int:
        raise ValueError(f"its author is {exported!r:.60}; was the account deleted?")
    return _Account(number, str(fields.get("email") or ""))


def _pseudonym(account: _Account, names: Mapping[str, str]) -> str:
    pseudonyms = {address.casefold(): name for address, name in names.items()}
    return (
        pseudonyms.get(account.email.casefold())
        or pseudonyms.get(str(account.number))
        or f"user-{account.number}"
    )


class _RankedText(NamedTuple):
    rank: int  # position among the texts of its field
    text: str


def _parse_result(task: AnnotationTask, result: list[Entry]) -> Values:
    fields = {field.name: field for field in task.fields}
    values: dict[str, list[_RankedText]] = {}
    for region in result:
        field = fields[region["from_name"]]
        if rotation := region.get("image_rotation"):
            raise ValueError(f"marks on an image that was turned by {rotation} degrees")
        values.setdefault(field.name, []).extend(_ranked_texts(field, region["value"]))
    return {
        name: tuple(ranked.text for ranked in sorted(texts, key=lambda ranked: ranked.rank))
        for name, texts in values.items()
        if texts
    }


def _ranked_texts(field: Field, value: Entry) -> Iterator[_RankedText]:
    """Texts of one region of a result; a mark has the rank of its name among the field's."""
    if field.kind in MARK_KINDS:
        (label,) = map(_unescape, value[_MARK_TAGS[field.kind].lower()])
        if field.choices and label not in field.choices:
            raise ValueError(f"{label!r} is none of {', '.join(field.choices)}")
        rank = field.choices.index(label) if field.choices else 0
        yield _RankedText(rank, _format_mark(field.kind, value))
        return
    texts = value["choices" if field.kind in ("choice", "choices") else "text"]
    for text in [texts] if isinstance(texts, str) else texts:
        if not isinstance(text, str):
            raise TypeError(f"expected a text, got {text!r:.60}")
        if text.strip():
            # JSON may split a character into two surrogates; lone ones are replaced.
            utf16 = _unescape(text).encode("utf-16", "surrogatepass")
            yield _RankedText(0, utf16.decode("utf-16", "replace"))


def _format_mark(kind: str, value: Entry) -> str:
    """Write a mark in shares of width and height; Label Studio exports percent."""
    left, top = value["x"] / 100, value["y"] / 100
    if kind == "points":
        return f"{left:z.6f} {top:z.6f}"  # z: no sign of a rounding error below 0
    if rotation := value.get("rotation"):
        raise ValueError(f"a box that is turned by {rotation:g} degrees")
    right, bottom = left + value["width"] / 100, top + value["height"] / 100
    return f"{left:z.6f} {top:z.6f} {right:.6f} {bottom:.6f}"
