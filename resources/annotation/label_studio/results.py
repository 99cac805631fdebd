"""Label Studio results as validated answers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bench_assets.annotation.tasks import AnnotationTask, Answer, Unit, Values, read_moment
from resources.annotation.label_studio.units import is_as_asked, unit_of, unspoken

TOOL = "label-studio"
SizeOf = Callable[[str], tuple[int, int] | None]
_FAULTS = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError)
_ROUNDED = 0.05  # an image is drawn in whole px of the window


@dataclass(frozen=True, slots=True)
class Pseudonyms:
    """Pseudonyms of annotators, never a name or address of the tool."""

    addresses: Mapping[int, str]  # of each account, by its number
    names: Mapping[str, str]  # pseudonym by address, as bench.toml has them

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
    unit, version, fault = _unit(annotation_task, task.get("data"))
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
            answer = _answer(empty, annotation, who)
            _check_size(unit, annotation["result"], size_of)
            yield answer
        except _FAULTS as why:
            complaint = f"annotation {number}: no answer: {type(why).__name__} {why}"
            yield replace(empty, complaint=fault or complaint)


def annotations_of(task: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Annotations of a task, unchanged."""
    found = task.get("annotations")
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _unit(annotation_task: AnnotationTask, data: Any) -> tuple[Unit | None, str, str]:  # noqa: ANN401  (JSON)
    """Unit of a task, the version of its annotation task, and why it is not trusted."""
    try:
        unit, version = unit_of(annotation_task, data), data["task_version"]
    except _FAULTS:
        return None, "", "its task was not made by us, or was changed in Label Studio"
    if version == annotation_task.version and not is_as_asked(annotation_task, unit, data):
        return unit, version, "what its task shows was changed in Label Studio"
    return unit, version, ""


def _answer(empty: Answer, annotation: Mapping[str, Any], who: Pseudonyms) -> Answer:
    person, changed_by = who.of(annotation["completed_by"]), who.of(annotation.get("updated_by"))
    seconds = annotation.get("lead_time")
    return replace(
        empty,
        person=person,
        values=_values(annotation["result"]),
        at=read_moment(annotation["created_at"]),
        changed_at=read_moment(annotation.get("updated_at") or annotation["created_at"]),
        changed_by="" if changed_by == person else changed_by,
        seconds=float(seconds) if isinstance(seconds, int | float) else None,
        skipped=annotation.get("was_cancelled") is True,
        complaint=empty.complaint or ("" if person else "no author: the account is gone"),
    )


def _values(result: Sequence[Mapping[str, Any]]) -> Values:
    found: dict[str, tuple[str, ...]] = {}
    for part in result:
        name = part["from_name"]
        if turn := part.get("image_rotation"):
            raise ValueError(f"points are on an image that was turned by {turn} degrees there")
        found[name] = found.get(name, ()) + tuple(_given(part["value"]))
    return {name: given for name, given in found.items() if given}


def _check_size(unit: Unit | None, result: Sequence[Mapping[str, Any]], size_of: SizeOf) -> None:
    """Check that points are on the upright image, whose shape their regions state.

    Raises:
        ValueError: If the browser had it on its side.
    """
    drawn = [one for one in result if "keypointlabels" in one["value"] and "original_width" in one]
    size = size_of(next(iter(unit.images.values()))) if drawn and unit and unit.images else None
    for one in drawn if size else ():
        width, height = one["original_width"], one["original_height"]
        if size and abs(width * size[1] / (height * size[0]) - 1) > _ROUNDED:
            raise ValueError(
                f"points are on an image of {width} x {height} px, the upright image has "
                f"{size[0]} x {size[1]} px"
            )


def _given(value: Mapping[str, Any]) -> Iterator[str]:
    """Entries of one part of a result, or the kind of an unexpected part."""
    if "keypointlabels" in value:
        yield f"{value['x'] / 100:.6f} {value['y'] / 100:.6f}"  # percent there, shares here
        return
    kind = next((name for name in ("choices", "text") if name in value), None)
    if kind is None:
        raise ValueError(f"expected choices, text or a region, got {', '.join(value) or 'nothing'}")
    given = value[kind]
    for one in [given] if isinstance(given, str) else given:
        if not isinstance(one, str):
            raise TypeError(f"expected a text, found {one!r:.60}")
        if one.strip():
            yield unspoken(one).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
