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
from bench_assets.core.images.drawing import Box, Point
from bench_assets.core.images.orientation import ImageFrame
from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.tables.source_folder import format_json, write_files

_TASKS = read_tasks(Path(__file__).parents[1] / "annotation.toml").tasks
TO_MARK = "to_mark"

_N_PUZZLES = 300  # of both splits (Table 3)
_DARKER = dict(zip(_TASKS["reflectance_points"].fields[1].choices, "12E", strict=True))
"""Each choice in the notation of Intrinsic Images in the Wild."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedImage:
    """The points or boxes that one annotator put on one image."""

    image: str  # below to_mark/
    person: str
    points: tuple[Point, ...]  # shares of width and height of the image as shown, in order
    boxes: tuple[Box, ...] = ()  # likewise
    darker: str = ""  # "1", "2" or "E", of two points on surfaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """A puzzle that an annotator contributed (IQ_Test)."""

    puzzle_id: str
    person: str
    image: str  # SHA-256
    answer: str  # a letter
    explanation: str


def marked_images(answers: Sequence[Answer]) -> list[MarkedImage]:
    """Convert annotation answers to marked images."""
    return [
        MarkedImage(
            image=answer.unit_id,
            person=answer.person,
            points=tuple(_point(text) for text in answer.values.get("points", ())),
            boxes=tuple(_box(text) for text in answer.values.get("boxes", ())),
            darker=_DARKER.get(field_value(answer, "darker"), ""),
        )
        for answer in answers
    ]


def puzzles(answers: Sequence[Answer]) -> list[Puzzle]:
    """Convert annotation answers to puzzles."""
    return [
        Puzzle(
            puzzle_id=f"{answer.unit_id} by {answer.person}",
            person=answer.person,
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


def _point(text: str) -> tuple[float, float]:
    x, y = map(float, text.split())
    return x, y


def _box(text: str) -> Box:
    left, top, right, bottom = map(float, text.split())
    return left, top, right, bottom


def _marking_task(task: AnnotationTask, folder: str, *headings: str) -> SuiteAnnotationTask:
    def units(images: Sequence[StoredImage]) -> list[Unit]:
        return [
            Unit(
                task=task.name,
                unit_id=image.name,
                shown=dict(zip(headings, image.name.split("/")[1:-1], strict=True)),
                images={"Image": image.sha256},
            )
            for image in images
            if image.name.startswith(f"{folder}/") and image.name.count("/") == len(headings) + 1
        ]

    return suite_task(task, units, marked_images, images="images_to_mark")


DEPTH_POINTS = _marking_task(_TASKS["depth_points"], "diw")
REFLECTANCE_POINTS = _marking_task(_TASKS["reflectance_points"], "iiw")
FUNCTIONAL_POINTS = _marking_task(_TASKS["functional_points"], "funkpoint", "Action", "Object")
SEMANTIC_POINTS = _marking_task(_TASKS["semantic_points"], "spair", "Kind")
OBJECT_BOXES = _marking_task(_TASKS["object_boxes"], "lvis", "Object")
IQ_IMAGES = suite_task(_TASKS["iq_images"], puzzle_units, puzzles)
MARKING_TASKS = (
    DEPTH_POINTS,
    REFLECTANCE_POINTS,
    FUNCTIONAL_POINTS,
    SEMANTIC_POINTS,
    OBJECT_BOXES,
)


ReadImage = Callable[[str], bytes]  # by SHA-256


class _Marks(NamedTuple):
    """One annotator's points and boxes on an image, in px of the stored file."""

    folders: tuple[str, ...]  # parents of the image, below to_mark/: data set, headings
    file: str  # name of the image in the raw data
    frame: ImageFrame
    points: list[Point]  # px
    boxes: list[Box]  # px
    darker: str


def write_marked_data(
    folder: Path,
    marked: Sequence[MarkedImage],
    puzzles: Sequence[Puzzle],
    images: Mapping[str, StoredImage],
    read: ReadImage,
) -> None:
    """Write marked images and contributed puzzles in the layouts of the raw data sets.

    If several annotators marked an image, the first one's marks are used.
    """
    first = {
        marked_image.image: marked_image
        for marked_image in reversed(marked)
        if marked_image.image in images
    }
    by_set: dict[str, list[_Marks]] = {}
    for name in sorted(first):
        marks = _to_stored_pixels(first[name], images[name])
        by_set.setdefault(marks.folders[0], []).append(marks)
        data = read(images[name].sha256)
        write_files(folder, {str(_raw_path(marks)): data})
    files: dict[str, bytes] = {}
    if depth := by_set.get("diw"):
        files["diw/DIW_test.csv"] = "".join(map(_depth, depth)).encode()
    for marks in by_set.get("iiw", ()):
        files[str(_raw_path(marks).with_suffix(".json"))] = format_json(_reflectance(marks))
    if tools := by_set.get("funkpoint"):
        files["funkpoint/annotations.json"] = format_json([_tool(marks) for marks in tools])
    for number, pair in enumerate(_pairs(by_set.get("spair", ()))):
        files[f"spair/PairAnnotation/people/{number:06}.json"] = format_json(pair)
    if objects := by_set.get("lvis"):
        files["lvis/lvis_v1_val.json"] = format_json(_objects(objects))
    if puzzles:
        files |= {f"puzzles/{_puzzle_file(puzzle)}": read(puzzle.image) for puzzle in puzzles}
        files["puzzles/puzzles.jsonl"] = "".join(map(_puzzle, puzzles)).encode()
    write_files(folder, files)


def _to_stored_pixels(marked: MarkedImage, image: StoredImage) -> _Marks:
    frame = ImageFrame(image.width, image.height, image.orientation)
    wide, high = frame.shown
    *folders, name = marked.image.split("/")
    return _Marks(
        folders=tuple(folders),
        file=f"marked_{name}",
        frame=frame,
        points=[frame.to_stored((x * wide, y * high)) for x, y in marked.points],
        boxes=[_stored_box(box, frame) for box in marked.boxes],
        darker=marked.darker,
    )


def _stored_box(box: Box, frame: ImageFrame) -> Box:
    """A box in px of the stored file, its corners in order."""
    wide, high = frame.shown
    corners = [frame.to_stored((x * wide, y * high)) for x, y in (box[:2], box[2:])]
    (left, right), (top, bottom) = map(sorted, zip(*corners, strict=True))
    return left, top, right, bottom


def _raw_path(marks: _Marks) -> PurePosixPath:
    """Path at which a builder expects a marked image."""
    match marks.folders:
        case ("iiw", *_):
            return PurePosixPath("iiw/data", f"{marks.file.replace('.', '_')}.png")
        case ("spair", kind, *_):
            return PurePosixPath("spair/JPEGImages", kind, marks.file)
        case _:
            return PurePosixPath(*marks.folders, marks.file)


def _depth(marks: _Marks) -> str:
    (x_a, y_a), (x_b, y_b) = marks.points
    places = ",".join(f"{at + 1:.2f}" for at in (y_a, x_a, y_b, x_b))  # px from 1
    name = _raw_path(marks).relative_to("diw")
    return f"{name}\n{places},<,{marks.frame.width},{marks.frame.height}\n"


def _reflectance(marks: _Marks) -> dict[str, Any]:
    points = [
        {"id": number, "x": x / marks.frame.width, "y": y / marks.frame.height, "opaque": True}
        for number, (x, y) in enumerate(marks.points, 1)
    ]
    judged = {"point1": 1, "point2": 2, "darker": marks.darker, "darker_score": 1.0}
    return {"intrinsic_points": points, "intrinsic_comparisons": [judged]}


def _tool(marks: _Marks) -> dict[str, Any]:
    _, action, name, *_ = marks.folders
    return {
        "image": str(_raw_path(marks).relative_to("funkpoint")),
        "object": name,
        "action": action,
        "points": marks.points,
        "width": marks.frame.width,
        "height": marks.frame.height,
    }


def _pairs(marked: Sequence[_Marks]) -> list[dict[str, Any]]:
    """Pair the images of each kind in order; an odd last one is left out."""
    kinds: dict[str, list[_Marks]] = {}
    for marks in marked:
        kinds.setdefault(marks.folders[1], []).append(marks)
    return [
        {
            "category": kind,
            **_side("src", pair[0]),
            **_side("trg", pair[1]),
        }
        for kind, of_kind in kinds.items()
        for pair in zip(of_kind[::2], of_kind[1::2], strict=False)
    ]


def _objects(marked: Sequence[_Marks]) -> dict[str, Any]:
    """Boxes as LVIS has them; a box counts as filled by its object."""
    kinds = sorted({marks.folders[1] for marks in marked})
    images = [
        {
            "id": number,
            "coco_url": f"{marks.folders[1]}/{marks.file}",
            "width": marks.frame.width,
            "height": marks.frame.height,
        }
        for number, marks in enumerate(marked)
    ]
    boxes = [
        (number, kinds.index(marks.folders[1]), box)
        for number, marks in enumerate(marked)
        for box in marks.boxes
    ]
    annotations = [
        {
            "id": number,
            "image_id": image,
            "category_id": kind,
            "bbox": [left, top, right - left, bottom - top],
            "area": (right - left) * (bottom - top),
        }
        for number, (image, kind, (left, top, right, bottom)) in enumerate(boxes)
    ]
    categories = [{"id": number, "name": name} for number, name in enumerate(kinds)]
    return {"images": images, "annotations": annotations, "categories": categories}


def _side(name: str, marks: _Marks) -> dict[str, Any]:
    size = [marks.frame.width, marks.frame.height]
    return {
        f"{name}_imname": marks.file,
        f"{name}_imsize": size,
        f"{name}_kps": marks.points,
    }


def _puzzle_file(puzzle: Puzzle) -> str:
    return f"brought_{puzzle.image[:16]}.png"


def _puzzle(puzzle: Puzzle) -> str:
    entry = {
        "id": puzzle.puzzle_id,
        "image": _puzzle_file(puzzle),
        "answer": puzzle.answer,
        "explanation": puzzle.explanation,
    }
    return json.dumps(entry, ensure_ascii=False) + "\n"
