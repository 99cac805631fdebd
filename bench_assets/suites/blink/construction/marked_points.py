"""Points that people put on images, and puzzles that they bring, for four of BLINK's builders.

Images to be marked lie in ``to_mark/`` of the source: ``diw/<image>``, ``iiw/<image>``,
``funkpoint/<action>/<object>/<image>`` and ``spair/<category>/<image>``. What becomes of them
is raw data in each builder's own layout, see ``marked``. The rules are those of section 3.2 and of
the data sets that it names, in our words.

Raw data out of what people marked and brought, in the layouts that the builders read.

With what the source has of the same data set it makes one folder (``overlaid``): file entries and
answers side by side.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bench_assets.annotation.answers.values import word
from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Field,
    SuiteAnnotationTask,
    TableOf,
    Unit,
)
from bench_assets.core.images.drawing import Point
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.core.tables.source_folder import as_json

TO_MARK = "to_mark"

_N_PUZZLES = 300  # of both splits (Table 3)
_DARKER: Mapping[str, str] = {
    "the first point": "1",
    "the second point": "2",
    "about the same": "E",
}
"""As Intrinsic Images in the Wild writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedImage:
    """The points that one person put on one image."""

    image: str  # below to_mark/
    person: str
    points: tuple[tuple[float, float], ...]  # shares of width and height, in the order put
    darker: str = ""  # "1", "2" or "E", of two points on surfaces


@dataclass(frozen=True, slots=True, kw_only=True)
class Puzzle:
    """An image of a puzzle that somebody brought (IQ_Test)."""

    puzzle_id: str
    person: str
    image: str  # SHA-256
    answer: str  # a letter
    explanation: str


def _points_form(name: str, title: str, instructions: str, n: int, *more: Field) -> AnnotationTask:
    points = Field(name="points", kind="points", label=f"{n} points", least=n, most=n)
    return AnnotationTask(
        name=f"blink/{name}",
        title=title,
        about="section 3.2",
        instructions=instructions,
        fields=(points, *more),
    )


_DEPTH = _points_form(
    "depth_points",
    "Which is closer?",
    "Put the first point on something that is clearly closer to the camera, the second on something"
    " that is clearly farther away. Keep them well apart, inside of things and not at their edges.",
    2,
)
_REFLECTANCE = _points_form(
    "reflectance_points",
    "Which surface is darker?",
    "Put two points on surfaces that are not of glass or metal, best under different light. Say"
    " which surface is darker by its paint or material, not by the shadow that it lies in.",
    2,
    Field(name="darker", kind="choice", label="Darker is", choices=tuple(_DARKER)),
)
_FUNCTIONAL = _points_form(
    "functional_points",
    "Which part does what?",
    "The image shows an object that the action named beside it can be done with. Put five points"
    " on it, always in the order of what they do: the end that does it, the middle of the"
    " part that does it, where that part meets the rest, where the hand holds it, the other end.",
    5,
)
_SEMANTIC = _points_form(
    "semantic_points",
    "The same parts of things of a kind",
    "Put six points on the thing, on parts that every thing of its kind has, always in the same"
    " order: agree on the parts and their order before the first image of a kind.",
    6,
)
_PUZZLES = AnnotationTask(
    name="blink/iq_images",
    title="A puzzle in one image",
    about="section 3.2, IQ test",
    instructions=(
        "Bring a puzzle whose licence lets anybody use it, or draw one: examples of a pattern and"
        " four images A to D, exactly one of which continues it, all in one image. It must take"
        " no knowledge. Explain how the answer follows."
    ),
    fields=(
        Field(name="image", kind="image", label="The image"),
        Field(name="answer", kind="choice", label="Right is", choices=("A", "B", "C", "D")),
        Field(name="explanation", kind="text", label="Why is it right?"),
    ),
)


def in_pixels(points: Iterable[tuple[float, float]], image: StoredImage) -> list[Point]:
    """Turn shares of width and height into px from the upper left."""
    return [(x * image.width, y * image.height) for x, y in points]


def marked_images(answers: Sequence[Answer]) -> list[MarkedImage]:
    """Take the points of each person on each image."""
    return [
        MarkedImage(
            image=answer.unit_id,
            person=answer.person,
            points=tuple(_point(text) for text in answer.values.get("points", ())),
            darker=_DARKER.get(word(answer, "darker"), ""),
        )
        for answer in answers
    ]


def puzzles(answers: Sequence[Answer]) -> list[Puzzle]:
    """Take the puzzles that people brought."""
    return [
        Puzzle(
            puzzle_id=f"{answer.unit_id} by {answer.person}",
            person=answer.person,
            image=word(answer, "image"),
            answer=word(answer, "answer"),
            explanation=" ".join(word(answer, "explanation").split()),
        )
        for answer in answers
    ]


def puzzle_items() -> list[Unit]:
    """Make a place for each puzzle of the paper's 300."""
    return [
        Unit(task=_PUZZLES.name, unit_id=f"puzzle-{number:03}")
        for number in range(1, _N_PUZZLES + 1)
    ]


def _point(text: str) -> tuple[float, float]:
    x, y = map(float, text.split())
    return x, y


def _marked(task: AnnotationTask, folder: str, *headings: str) -> SuiteAnnotationTask:
    def units(digests: Sequence[StoredImage]) -> list[Unit]:
        return [
            Unit(
                task=task.name,
                unit_id=one.name,
                shown=dict(zip(headings, one.name.split("/")[1:-1], strict=True)),
                images={"Image": one.sha256},
            )
            for one in digests
            if one.name.startswith(f"{folder}/") and one.name.count("/") == len(headings) + 1
        ]

    return SuiteAnnotationTask(
        task=task,
        reads={"images": TableOf("blink/images_to_mark", StoredImage)},
        units=units,
        row=MarkedImage,
        to_rows=marked_images,
    )


DEPTH_POINTS = _marked(_DEPTH, "diw")
REFLECTANCE_POINTS = _marked(_REFLECTANCE, "iiw")
FUNCTIONAL_POINTS = _marked(_FUNCTIONAL, "funkpoint", "Action", "Object")
SEMANTIC_POINTS = _marked(_SEMANTIC, "spair", "Kind")
IQ_IMAGES = SuiteAnnotationTask(
    task=_PUZZLES, reads={}, units=puzzle_items, row=Puzzle, to_rows=puzzles
)
POINTS = (DEPTH_POINTS, REFLECTANCE_POINTS, FUNCTIONAL_POINTS, SEMANTIC_POINTS)


DATA_SETS = ("diw", "iiw", "funkpoint", "spair", "puzzles")
"""Folders that something may come to."""

_LINES = (".csv", ".jsonl")

ReadImage = Callable[[str], bytes]  # by SHA-256


def write_marked(
    folder: Path,
    marked: Sequence[MarkedImage],
    puzzles: Sequence[Puzzle],
    images: Mapping[str, StoredImage],
    read: ReadImage,
) -> None:
    """Write raw data of the images that people marked, and of the puzzles that they brought.

    Of several people who marked one image the first counts: each image is asked about once.

    Args:
        folder: A folder of its own.
        marked: What was marked.
        puzzles: What was brought.
        images: Those that were to be marked, by name.
        read: Reads an image's bytes.
    """
    first = {one.image: one for one in reversed(marked) if one.image in images}
    chosen = [first[name] for name in sorted(first)]
    for mark in chosen:
        _write(folder / _place(mark.image), read(images[mark.image].sha256))
    by_set = {name: [m for m in chosen if m.image.startswith(f"{name}/")] for name in DATA_SETS}
    if by_set["diw"]:
        lines = [line for mark in by_set["diw"] for line in _depth(mark, images)]
        _write(folder / "diw/DIW_test.csv", "".join(f"{line}\n" for line in lines).encode())
    for mark in by_set["iiw"]:
        file = (folder / _place(mark.image)).with_suffix(".json")
        _write(file, as_json(_reflectance(mark)))
    if by_set["funkpoint"]:
        entries = [_tool(mark, images) for mark in by_set["funkpoint"]]
        _write(folder / "funkpoint/annotations.json", as_json(entries))
    for number, pair in enumerate(_pairs(by_set["spair"], images)):
        _write(folder / f"spair/PairAnnotation/people/{number:06}.json", as_json(pair))
    if puzzles:
        _write_puzzles(folder / "puzzles", puzzles, read)


def overlaid(source: Path, added: Path, target: Path) -> None:
    """Make one folder of two, of links; lists that both have are joined, the source's part first.

    Raises:
        SourceError: If both have a file that is no list.
    """
    for entry in sorted(source.iterdir()):
        if entry.name not in DATA_SETS or not (added / entry.name).is_dir():
            (target / entry.name).symlink_to(entry.resolve())
    for name in DATA_SETS:
        own = {
            file.relative_to(added): file for file in (added / name).rglob("*") if file.is_file()
        }
        if not own:
            continue
        there = {
            file.relative_to(source): file for file in (source / name).rglob("*") if file.is_file()
        }
        for path, file in {**there, **own}.items():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            if path in there and path in own:
                _write(target / path, _joined(there[path], own[path]))
            else:
                (target / path).symlink_to(file.resolve())


def _joined(one: Path, other: Path) -> bytes:
    if one.suffix in _LINES:
        return one.read_bytes().rstrip(b"\n") + b"\n" + other.read_bytes()
    try:
        first, second = (json.loads(file.read_text("utf-8")) for file in (one, other))
    except (ValueError, RecursionError) as why:
        raise SourceError(f"{one}: not JSON, or no text: {why}") from why
    if not isinstance(first, list) or not isinstance(second, list):
        raise SourceError(f"{one}: people marked an image of this name as well; rename one")
    return as_json(first + second)


def _place(name: str) -> PurePosixPath:
    """Where a builder looks for an image that was to be marked."""
    path = PurePosixPath(name)
    match path.parts:
        case ("iiw", *_):
            return PurePosixPath("iiw/data", f"marked_{path.name.replace('.', '_')}.png")
        case ("spair", kind, *_):
            return PurePosixPath("spair/JPEGImages", kind, f"marked_{path.name}")
        case _:
            return path.with_name(f"marked_{path.name}")


def _depth(mark: MarkedImage, images: Mapping[str, StoredImage]) -> list[str]:
    image = images[mark.image]
    (x_a, y_a), (x_b, y_b) = in_pixels(mark.points, image)
    places = ",".join(f"{at + 1:.2f}" for at in (y_a, x_a, y_b, x_b))  # px from 1
    name = _place(mark.image).relative_to("diw")
    return [str(name), f"{places},<,{image.width},{image.height}"]


def _reflectance(mark: MarkedImage) -> dict[str, Any]:
    points = [
        {"id": number, "x": x, "y": y, "opaque": True}
        for number, (x, y) in enumerate(mark.points, 1)
    ]
    judged = {"point1": 1, "point2": 2, "darker": mark.darker, "darker_score": 1.0}
    return {"intrinsic_points": points, "intrinsic_comparisons": [judged]}


def _tool(mark: MarkedImage, images: Mapping[str, StoredImage]) -> dict[str, Any]:
    _, action, name, *_ = mark.image.split("/")
    return {
        "image": str(_place(mark.image).relative_to("funkpoint")),
        "object": name,
        "action": action,
        "points": in_pixels(mark.points, images[mark.image]),
    }


def _pairs(marks: Iterable[MarkedImage], images: Mapping[str, StoredImage]) -> list[dict[str, Any]]:
    """Pair the images of each kind in their order; each is in one pair."""
    kinds: dict[str, list[MarkedImage]] = {}
    for mark in marks:
        kinds.setdefault(mark.image.split("/")[1], []).append(mark)
    return [
        {
            "category": kind,
            "src_imname": _place(pair[0].image).name,
            "trg_imname": _place(pair[1].image).name,
            "src_kps": in_pixels(pair[0].points, images[pair[0].image]),
            "trg_kps": in_pixels(pair[1].points, images[pair[1].image]),
        }
        for kind, of_kind in kinds.items()
        for pair in zip(of_kind[::2], of_kind[1::2], strict=False)
    ]


def _write_puzzles(folder: Path, puzzles: Sequence[Puzzle], read: ReadImage) -> None:
    lines = []
    for puzzle in puzzles:
        image = f"brought_{puzzle.image[:16]}.png"
        _write(folder / image, read(puzzle.image))
        entry = {"id": puzzle.puzzle_id, "image": image, "answer": puzzle.answer}
        lines.append(json.dumps({**entry, "explanation": puzzle.explanation}, ensure_ascii=False))
    _write(folder / "puzzles.jsonl", "".join(f"{line}\n" for line in lines).encode())


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
