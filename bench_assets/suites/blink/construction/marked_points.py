"""Annotated points and boxes and contributed puzzles, as raw data for six of BLINK's builders.

Images to mark are in ``to_mark/`` of the source: ``diw/<image>``, ``iiw/<image>``,
``funkpoint/<action>/<object>/<image>``, ``spair/<category>/<image>`` and
``lvis/<object>/<image>``. ``write_marked_data`` writes the answers in the layouts of the builders.
The instructions follow section 3.2 and the data sets that it names, in our words.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from bench_assets.annotation.task_files import read_tasks
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    SuiteAnnotationTask,
    Unit,
    field_value,
    suite_task,
)
from bench_assets.core.images.drawing import Box, Point, box_between
from bench_assets.core.images.orientation import ImageFrame
from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.tables.source_folder import format_json, write_files

_TASKS = read_tasks(Path(__file__).parents[1] / "annotation.toml")
TO_MARK = "to_mark"

_N_PUZZLES = 300  # puzzles of both splits (Table 3)
_, _darker_field = _TASKS["reflectance_points"].fields
_DARKER = dict(zip(_darker_field.choices, "12E", strict=True))
"""Each choice in the notation of Intrinsic Images in the Wild."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedImage:
    """The points or boxes that one annotator put on one image."""

    image: str  # below to_mark/
    points: tuple[Point, ...]  # shares of width and height of the image as shown, in order
    boxes: tuple[Box, ...] = ()  # likewise
    darker: str = ""  # "1", "2" or "E", of two points on surfaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A puzzle that an annotator contributed (IQ_Test)."""

    puzzle_id: str
    image: str  # SHA-256
    answer: str  # a letter
    explanation: str


def to_marked_images(answers: Sequence[Answer]) -> list[MarkedImage]:
    """Convert annotation answers to marked images."""
    return [
        MarkedImage(
            image=answer.unit_id,
            points=tuple(_parse_point(text) for text in answer.values.get("points", ())),
            boxes=tuple(_parse_box(text) for text in answer.values.get("boxes", ())),
            darker=_DARKER.get(field_value(answer, "darker"), ""),
        )
        for answer in answers
    ]


def to_puzzles(answers: Sequence[Answer]) -> list[Puzzle]:
    """Convert annotation answers to puzzles."""
    return [
        Puzzle(
            puzzle_id=f"{answer.unit_id} by {answer.person}",
            image=field_value(answer, "image"),
            answer=field_value(answer, "answer"),
            explanation=" ".join(field_value(answer, "explanation").split()),
        )
        for answer in answers
    ]


def puzzle_units() -> list[Unit]:
    """Make a unit for each of the paper's 300 puzzles."""
    return [
        Unit(task=_TASKS["iq_images"].name, unit_id=f"puzzle-{number:03}")
        for number in range(1, _N_PUZZLES + 1)
    ]


def _parse_point(text: str) -> Point:
    x, y = map(float, text.split())
    return x, y


def _parse_box(text: str) -> Box:
    left, top, right, bottom = map(float, text.split())
    return left, top, right, bottom


def _marking_task(task: AnnotationTask, data_set: str, *headings: str) -> SuiteAnnotationTask:
    """Make a task of the images in a folder of to_mark/; headings name its levels of subfolders."""

    def make_units(images: Sequence[StoredImage]) -> list[Unit]:
        units = []
        for image in images:
            *folders, _ = image.name.split("/")
            if folders[:1] == [data_set] and len(folders[1:]) == len(headings):
                shown = dict(zip(headings, folders[1:], strict=True))
                shown_images = {"Image": image.sha256}
                units.append(
                    Unit(task=task.name, unit_id=image.name, shown=shown, images=shown_images)
                )
        return units

    return suite_task(task, make_units, to_marked_images, images="images_to_mark")


DEPTH_POINTS = _marking_task(_TASKS["depth_points"], "diw")
REFLECTANCE_POINTS = _marking_task(_TASKS["reflectance_points"], "iiw")
FUNCTIONAL_POINTS = _marking_task(_TASKS["functional_points"], "funkpoint", "Action", "Object")
SEMANTIC_POINTS = _marking_task(_TASKS["semantic_points"], "spair", "Kind")
OBJECT_BOXES = _marking_task(_TASKS["object_boxes"], "lvis", "Object")
IQ_IMAGES = suite_task(_TASKS["iq_images"], puzzle_units, to_puzzles)
MARKING_TASKS = (DEPTH_POINTS, REFLECTANCE_POINTS, FUNCTIONAL_POINTS, SEMANTIC_POINTS, OBJECT_BOXES)


ReadImage = Callable[[str], bytes]  # by SHA-256


class _Marks(NamedTuple):
    """One annotator's points and boxes on an image, in px of the stored file."""

    data_set: str  # folder of the image below to_mark/
    subfolders: tuple[str, ...]  # below the data set: any action, then any object
    file: str  # name of the image in the raw data
    frame: ImageFrame
    points: list[Point]
    boxes: list[Box]
    darker: str

    @property
    def object_name(self) -> str:
        """Name of the object in the image: its innermost folder."""
        return self.subfolders[-1]


def write_marked_data(
    folder: Path,
    marked: Sequence[MarkedImage],
    puzzles: Sequence[Puzzle],
    images: Mapping[str, StoredImage],
    read: ReadImage,
) -> None:
    """Write marked images and contributed puzzles in the layouts of the raw data sets.

    If several annotators marked an image, the first one's marks are used; those of images that are
    no longer stored are left out.
    """
    first_by_image: dict[str, MarkedImage] = {}
    for marked_image in marked:
        if marked_image.image in images:
            first_by_image.setdefault(marked_image.image, marked_image)
    by_data_set: dict[str, list[_Marks]] = {}
    for name, marked_image in sorted(first_by_image.items()):
        marks = _to_stored_pixels(marked_image, images[name])
        by_data_set.setdefault(marks.data_set, []).append(marks)
        write_files(folder, {str(_raw_path(marks)): read(images[name].sha256)})
    write_files(folder, _annotation_files(by_data_set))
    if puzzles:
        files = {f"puzzles/{_puzzle_file(puzzle)}": read(puzzle.image) for puzzle in puzzles}
        files["puzzles/puzzles.jsonl"] = "".join(map(_puzzle_line, puzzles)).encode()
        write_files(folder, files)


def _annotation_files(by_data_set: Mapping[str, list[_Marks]]) -> dict[str, bytes]:
    """Format the marks of each data set as its annotation files, by path."""
    files: dict[str, bytes] = {}
    if depth := by_data_set.get("diw"):
        files["diw/DIW_test.csv"] = "".join(map(_depth_lines, depth)).encode()
    for marks in by_data_set.get("iiw", ()):
        file = _raw_path(marks).with_suffix(".json")
        files[str(file)] = format_json(_reflectance_entry(marks))
    if tools := by_data_set.get("funkpoint"):
        files["funkpoint/annotations.json"] = format_json([_tool_entry(marks) for marks in tools])
    for number, pair in enumerate(_pair_entries(by_data_set.get("spair", ()))):
        files[f"spair/PairAnnotation/people/{number:06}.json"] = format_json(pair)
    if objects := by_data_set.get("lvis"):
        files["lvis/lvis_v1_val.json"] = format_json(_lvis_annotations(objects))
    return files


def _to_stored_pixels(marked: MarkedImage, image: StoredImage) -> _Marks:
    frame = ImageFrame(width=image.width, height=image.height, orientation=image.orientation)
    width, height = frame.shown
    data_set, *subfolders, name = marked.image.split("/")
    return _Marks(
        data_set=data_set,
        subfolders=tuple(subfolders),
        file=f"marked_{name}",
        frame=frame,
        points=[frame.to_stored((x * width, y * height)) for x, y in marked.points],
        boxes=[_stored_box(box, frame) for box in marked.boxes],
        darker=marked.darker,
    )


def _stored_box(box: Box, frame: ImageFrame) -> Box:
    """Convert shares of the image as shown to px of the stored file."""
    width, height = frame.shown
    left, top, right, bottom = box
    first = frame.to_stored((left * width, top * height))
    second = frame.to_stored((right * width, bottom * height))
    return box_between(first, second)


def _raw_path(marks: _Marks) -> PurePosixPath:
    """Return the path at which a builder expects a marked image."""
    match marks.data_set:
        case "iiw":
            return PurePosixPath("iiw/data", f"{marks.file.replace('.', '_')}.png")
        case "spair":
            return PurePosixPath("spair/JPEGImages", marks.object_name, marks.file)
        case data_set:
            return PurePosixPath(data_set, *marks.subfolders, marks.file)


def _depth_lines(marks: _Marks) -> str:
    (x_a, y_a), (x_b, y_b) = marks.points  # annotators mark the closer point first
    coordinates = ",".join(f"{value + 1:.2f}" for value in (y_a, x_a, y_b, x_b))  # px from 1
    name = _raw_path(marks).relative_to("diw")
    return f"{name}\n{coordinates},<,{marks.frame.width},{marks.frame.height}\n"


def _reflectance_entry(marks: _Marks) -> dict[str, Any]:
    points = [
        {"id": number, "x": x / marks.frame.width, "y": y / marks.frame.height, "opaque": True}
        for number, (x, y) in enumerate(marks.points, 1)
    ]
    comparison = {"point1": 1, "point2": 2, "darker": marks.darker, "darker_score": 1.0}
    return {"intrinsic_points": points, "intrinsic_comparisons": [comparison]}


def _tool_entry(marks: _Marks) -> dict[str, Any]:
    action, object_name = marks.subfolders
    return {
        "image": str(_raw_path(marks).relative_to("funkpoint")),
        "object": object_name,
        "action": action,
        "points": marks.points,
        "width": marks.frame.width,
        "height": marks.frame.height,
    }


def _pair_entries(marked_images: Sequence[_Marks]) -> list[dict[str, Any]]:
    """Pair the images of each category in order; an odd last one is left out."""
    by_category: dict[str, list[_Marks]] = {}
    for marks in marked_images:
        by_category.setdefault(marks.object_name, []).append(marks)
    return [
        {"category": category, **_pair_side("src", source), **_pair_side("trg", target)}
        for category, members in by_category.items()
        for source, target in zip(members[::2], members[1::2], strict=False)
    ]


def _pair_side(prefix: str, marks: _Marks) -> dict[str, Any]:
    return {
        f"{prefix}_imname": marks.file,
        f"{prefix}_imsize": [marks.frame.width, marks.frame.height],
        f"{prefix}_kps": marks.points,
    }


def _lvis_annotations(marked_images: Sequence[_Marks]) -> dict[str, Any]:
    """Format boxes as LVIS does; an object is taken to fill its whole box."""
    names = sorted({marks.object_name for marks in marked_images})
    images: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    for image_id, marks in enumerate(marked_images):
        frame, url = marks.frame, f"{marks.object_name}/{marks.file}"
        images.append(
            {"id": image_id, "coco_url": url, "width": frame.width, "height": frame.height}
        )
        for left, top, right, bottom in marks.boxes:
            annotations.append(
                {
                    "id": len(annotations),
                    "image_id": image_id,
                    "category_id": names.index(marks.object_name),
                    "bbox": [left, top, right - left, bottom - top],
                    "area": (right - left) * (bottom - top),
                }
            )
    categories = [{"id": category_id, "name": name} for category_id, name in enumerate(names)]
    return {"images": images, "annotations": annotations, "categories": categories}


def _puzzle_file(puzzle: Puzzle) -> str:
    return f"brought_{puzzle.image[:16]}.png"


def _puzzle_line(puzzle: Puzzle) -> str:
    entry = {
        "id": puzzle.puzzle_id,
        "image": _puzzle_file(puzzle),
        "answer": puzzle.answer,
        "explanation": puzzle.explanation,
    }
    return json.dumps(entry, ensure_ascii=False) + "\n"
