"""A form as Label Studio has it: pictures at the left, texts and fields at the right."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from bench_assets.people.forms import Field, Form
from bench_assets.people.port import PeopleError

_STYLE = (
    ".row {display: flex; gap: 24px; align-items: flex-start}"
    " .left {flex: 3; min-width: 320px; position: sticky; top: 0}"
    " .right {flex: 2; min-width: 320px}"
)
_HIDDEN = "item"  # an object that every task has; controls must belong to one
_PICTURE = "picture"
_INLINE = 60  # characters of all choices together that fit into one line
_BREAK = "\N{ZERO WIDTH SPACE}"  # seen by nobody


def label_config(form: Form) -> str:
    """Write a form as Label Studio's XML; each control has the name of its field.

    Choices come with each task, since an item may have its own.

    Raises:
        PeopleError: If a person is to bring a picture: none can be taken in.
    """
    points = has_points(form)
    view = Element("View")
    SubElement(view, "Style").text = _STYLE
    row = SubElement(view, "View", className="row")
    _pictures(SubElement(row, "View", className="left"), points=points)
    right = SubElement(row, "View", className="right")
    _texts(right)
    SubElement(SubElement(view, "View", style="display: none"), "Text", name=_HIDDEN, value="$key")
    for field in form.fields:
        SubElement(right, "Header", value=spoken(field.label), size="5")
        right.append(_control(form, field))
    indent(view)
    return tostring(view, encoding="unicode")


def has_points(form: Form) -> bool:
    """Whether places on its first picture are asked for."""
    return any(field.kind == "points" for field in form.fields)


def spoken(text: str) -> str:
    """Write a text so that Label Studio shows it: what follows a dollar would be a variable of its.

    >>> unspoken(spoken("$5 or more"))
    '$5 or more'
    """
    return text.replace("$", f"${_BREAK}")


def unspoken(text: str) -> str:
    """Read what ``spoken`` wrote."""
    return text.replace(f"${_BREAK}", "$")


def _pictures(left: Element, *, points: bool) -> None:
    """Show each picture under its heading; the one with places on it has a name of its own."""
    if points:
        SubElement(left, "Header", value="$heading", size="5")
        SubElement(left, "Image", name=_PICTURE, value="$picture", maxWidth="100%", zoom="true")
    rest = "others" if points else "pictures"
    each = _repeated(left, rest)
    SubElement(each, "Header", value=f"${rest}[{{{{idx}}}}].heading", size="5")
    SubElement(
        each, "Image", name="picture_{{idx}}", value=f"${rest}[{{{{idx}}}}].url",
        maxWidth="100%", zoom="true",
    )  # fmt: skip


def _texts(right: Element) -> None:
    each = _repeated(right, "shown")
    SubElement(each, "Header", value="$shown[{{idx}}].heading", size="5")
    SubElement(each, "Text", name="shown_{{idx}}", value="$shown[{{idx}}].text", valueType="text")


def _repeated(parent: Element, what: str) -> Element:
    return SubElement(parent, "Repeater", on=f"${what}", indexFlag="{{idx}}")


def _control(form: Form, field: Field) -> Element:
    told = {"name": field.name, "toName": _PICTURE if field.kind == "points" else _HIDDEN}
    if field.required:
        told |= {"required": "true", "requiredMessage": f"Please answer: {spoken(field.label)}"}
    if field.kind in ("choice", "choices"):
        inline = 0 < sum(map(len, field.choices)) <= _INLINE
        told |= {
            "choice": "single-radio" if field.kind == "choice" else "multiple",
            "showInline": str(inline).lower(),
        }
        return Element("Choices", told, value=f"$choices_{field.name}")
    if field.kind == "points":
        control = Element("KeyPointLabels", told, strokeWidth="6")  # px; a point of one is lost
        SubElement(control, "Label", value=spoken(field.label), maxUsages=str(field.most))
        return control
    if field.kind == "picture":
        raise PeopleError(
            f"{form.name}, field {field.name}: Label Studio takes no pictures in; ask this form in"
            ' pages (kind = "pages") or in files'
        )
    most, rows = (1, 4) if field.kind == "text" else (field.most, 1)
    return Element("TextArea", told, rows=str(rows), maxSubmissions=str(most), editable="true")
