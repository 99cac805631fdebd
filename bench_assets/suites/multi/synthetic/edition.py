"""The mini edition: raw problems with drawn figures, annotations and planted faults.

``problems.json`` has the problems, with a description of each figure. Near-duplicates (ids from 90;
91 only looks like one) and broken problems (80 to 89) are planted. Text in figures is ASCII, so
that every machine draws the same.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import cos, pi, sin
from pathlib import Path
from random import Random
from typing import Any

from bench_assets.core.images.synthetic_scenes import Box, Scene, Spot
from bench_assets.core.tables.source_folder import format_json, write_files

_INK = "black"
_UNIT = 24  # px between two grid lines of a graph
_MIDDLE = 144  # px; the origin of a graph


def draw(figure: Mapping[str, Any]) -> bytes:
    """Draw a figure of ``problems.json`` as a PNG, by its ``kind``."""
    arguments = {name: value for name, value in figure.items() if name not in ("kind", "caption")}
    return _KINDS[figure["kind"]](**arguments).png()


def _right_triangle(legs: Sequence[str], hypotenuse: str) -> Scene:
    scene = Scene(288, 240)
    scene.line([(40, 200), (40, 40), (248, 200), (40, 200)], _INK)
    scene.line([(40, 180), (60, 180), (60, 200)], _INK, 2)
    for text, spot in zip([*legs, hypotenuse], [(22, 120), (144, 218), (160, 104)], strict=True):
        scene.label(text, spot, 22)
    return scene


def _rectangle(width: str, height: str) -> Scene:
    scene = Scene(288, 208)
    scene.line([(40, 40), (248, 40), (248, 170), (40, 170), (40, 40)], _INK)
    scene.label(width, (144, 188), 22)
    scene.label(height, (22, 105), 22)
    return scene


def _number_line(point: int, name: str) -> Scene:
    scene = Scene(384, 96)
    scene.line([(12, 56), (372, 56)], _INK)
    for value in range(-4, 5):
        x = 192 + 40 * value
        scene.line([(x, 48), (x, 64)], _INK, 2)
        scene.label(str(value), (x, 80), 16)
    x = 192 + 40 * point
    scene.form("ellipse", (x - 6, 50, x + 7, 63), "red")
    scene.label(name, (x, 28), 22)
    return scene


def _clock(hour: int, minute: int) -> Scene:
    scene = Scene(208, 208)
    scene.form("ellipse", (8, 8, 201, 201), _INK)
    scene.form("ellipse", (12, 12, 197, 197), "white")
    for numeral in range(1, 13):
        scene.label(str(numeral), _circle_point((104, 104), 80, numeral / 12), 18)
    scene.line([(104, 104), _circle_point((104, 104), 44, (hour + minute / 60) / 12)], _INK, 7)
    scene.line([(104, 104), _circle_point((104, 104), 66, minute / 60)], _INK, 3)
    return scene


def _bars(values: Mapping[str, int]) -> Scene:
    scene = Scene(72 * len(values) + 48, 240)
    scene.line([(32, 16), (32, 204), (72 * len(values) + 36, 204)], _INK)
    for index, (name, value) in enumerate(values.items()):
        left = 48 + 72 * index
        scene.form("rectangle", (left, 204 - 20 * value, left + 40, 204), "steelblue")
        scene.label(str(value), (left + 20, 192 - 20 * value), 18)
        scene.label(name, (left + 20, 222), 18)
    return scene


def _graph(points: Sequence[tuple[float, float]], axes: Sequence[str] = ("x", "y")) -> Scene:
    """Draw a curve through points of a grid from -5 to 5."""
    scene = Scene(2 * _MIDDLE, 2 * _MIDDLE)
    for step in range(-5, 6):
        position = _MIDDLE + step * _UNIT
        scene.line([(position, 12), (position, 276)], "lightgray", 1)
        scene.line([(12, position), (276, position)], "lightgray", 1)
        if step % 2 == 0 and step:
            scene.label(str(step), (position, _MIDDLE + 12), 13)
            scene.label(str(-step), (_MIDDLE - 12, position), 13)
    scene.line([(8, _MIDDLE), (280, _MIDDLE)], _INK, 2)
    scene.line([(_MIDDLE, 8), (_MIDDLE, 280)], _INK, 2)
    scene.label(axes[0], (276, _MIDDLE - 12), 18)
    scene.label(axes[1], (_MIDDLE + 14, 14), 18)
    spots = [(round(_MIDDLE + x * _UNIT), round(_MIDDLE - y * _UNIT)) for x, y in points]
    scene.line(spots, "crimson", 3)
    return scene


def _straight(slope: float, start: float, axes: Sequence[str] = ("x", "y")) -> Scene:
    """Draw the part of a straight line that lies on the grid; ``start`` is its value at x = 0."""
    xs = [x / 10 for x in range(-50, 51) if abs(slope * x / 10 + start) <= 5]
    return _graph([(x, slope * x + start) for x in (xs[0], xs[-1])], axes)


def _parabola(a: float, vertex: Spot) -> Scene:
    """Draw the part of y = a (x - x0)² + y0 that lies on the grid."""
    x0, y0 = vertex
    xs = [x0 + step / 8 for step in range(-32, 33)]
    curve = [(x, a * (x - x0) ** 2 + y0) for x in xs]
    return _graph([(x, y) for x, y in curve if abs(x) <= 5 and abs(y) <= 5])


def _circuit(branches: Sequence[Sequence[str]]) -> Scene:
    """Draw a battery below parallel branches, each a row of labelled parts."""
    scene = Scene(384, 112 + 64 * len(branches))
    bottom = 80 + 64 * len(branches)
    for branch_index, labels in enumerate(branches):
        y = 40 + 64 * branch_index
        scene.line([(40, y), (344, y)], _INK)
        for part_index, label in enumerate(labels):
            x = 40 + 304 * (2 * part_index + 1) // (2 * len(labels))
            scene.form("rectangle", (x - 44, y - 18, x + 45, y + 19), _INK)
            scene.form("rectangle", (x - 41, y - 15, x + 42, y + 16), "white")
            scene.label(label, (x, y), 18)
    scene.line([(184, bottom), (40, bottom), (40, 40)], _INK)
    scene.line([(200, bottom), (344, bottom), (344, 40)], _INK)
    scene.line([(184, bottom - 20), (184, bottom + 20)], _INK)
    scene.line([(200, bottom - 10), (200, bottom + 10)], _INK, 6)
    return scene


def _table(rows: Sequence[Sequence[str]]) -> Scene:
    width, height = 96, 44  # of a cell
    scene = Scene(width * len(rows[0]) + 17, height * len(rows) + 17)
    for row_index, row in enumerate(rows):
        for column_index, text in enumerate(row):
            left, top = 8 + width * column_index, 8 + height * row_index
            corners = [(0, 0), (width, 0), (width, height), (0, height), (0, 0)]
            scene.line([(left + x, top + y) for x, y in corners], _INK, 2)
            scene.label(text, (left + width // 2, top + height // 2), 20)
    return scene


def _round_sign(text: str, ring: str, inside: str = "white", ink: str = _INK) -> Scene:
    scene = Scene(192, 192, background="lightsteelblue")
    scene.form("ellipse", (16, 16, 176, 176), ring)
    scene.form("ellipse", (34, 34, 158, 158), inside)
    scene.label(text, (96, 96), 48 if len(text) < 4 else 36, ink)
    return scene


def _warning_sign(sprite: str) -> Scene:
    scene = Scene(208, 192, background="lightsteelblue")
    scene.form("triangle", (8, 8, 200, 180), _INK)
    scene.form("triangle", (24, 28, 184, 170), "gold")
    scene.sprite(sprite, (104, 120), 64)
    return scene


def _sprites(names: Sequence[str]) -> Scene:
    scene = Scene(80 * len(names) + 16, 96)
    for index, name in enumerate(names):
        scene.sprite(name, (48 + 80 * index, 48), 64)
    return scene


def _forms(forms: Sequence[Sequence[str]]) -> Scene:
    """Draw a row of coloured forms; "?" is the missing one."""
    scene = Scene(80 * len(forms) + 16, 96)
    for index, (form, colour) in enumerate(forms):
        left = 20 + 80 * index
        if form == "?":
            scene.label("?", (left + 28, 48), 48)
        else:
            scene.form(form, (left, 20, left + 56, 76), colour)  # type: ignore[arg-type]
    return scene


def _tree(nodes: Mapping[str, Spot], edges: Sequence[Sequence[str]]) -> Scene:
    """Draw labelled nodes, joined by lines, on a grid of 48 x 64 px."""
    spots = {name: (32 + 48 * x, 32 + 64 * y) for name, (x, y) in nodes.items()}
    right, bottom = max(x for x, _ in spots.values()), max(y for _, y in spots.values())
    scene = Scene(right + 32, bottom + 32)
    for parent, child in edges:
        scene.line([spots[parent], spots[child]], _INK)
    for name, (x, y) in spots.items():
        scene.form("ellipse", (x - 22, y - 22, x + 23, y + 23), _INK)
        scene.form("ellipse", (x - 19, y - 19, x + 20, y + 20), "white")
        scene.label(name, (x, y), 18)
    return scene


def _pedigree(people: Sequence[Sequence[Any]]) -> Scene:
    """Draw squares for men and circles for women, filled if affected, at most two in a row."""
    scene = Scene(240, 112 * ((len(people) + 1) // 2))
    for index, (sex, affected) in enumerate(people):
        x, y = 72 + 96 * (index % 2), 56 + 112 * (index // 2)
        form: Any = "rectangle" if sex == "m" else "ellipse"
        scene.form(form, (x - 24, y - 24, x + 25, y + 25), _INK)
        if not affected:
            scene.form(form, (x - 20, y - 20, x + 21, y + 21), "white")
        scene.label(str(index + 1), (x + 36, y + 20), 18)
    return scene


def _ruler(first: int, last: int) -> Scene:
    scene = Scene(400, 128)
    box: Box = (20 + 36 * first, 12, 20 + 36 * last, 44)
    scene.form("rectangle", box, "darkorange")
    scene.line([(8, 48), (392, 48), (392, 112), (8, 112), (8, 48)], _INK)
    for value in range(11):
        scene.line([(20 + 36 * value, 48), (20 + 36 * value, 68)], _INK, 2)
        scene.label(str(value), (20 + 36 * value, 84), 16)
    return scene


def _circle_point(centre: Spot, radius: int, turn: float) -> Spot:
    """Point of a circle after a share of a clockwise turn from the top."""
    angle = 2 * pi * turn
    x, y = centre
    return round(x + radius * sin(angle)), round(y - radius * cos(angle))


_KINDS: Mapping[str, Callable[..., Scene]] = {
    "right triangle": _right_triangle,
    "rectangle": _rectangle,
    "number line": _number_line,
    "clock": _clock,
    "bars": _bars,
    "straight line": _straight,
    "parabola": _parabola,
    "circuit": _circuit,
    "table": _table,
    "round sign": _round_sign,
    "warning sign": _warning_sign,
    "sprites": _sprites,
    "forms": _forms,
    "tree": _tree,
    "pedigree": _pedigree,
    "ruler": _ruler,
}


_MATERIAL = Path(__file__).with_name("problems.json")
_ANNOTATORS = ("annotator-1", "annotator-2")  # of the first and the second round
_CORRUPT_IMAGE = b"\x89PNG\r\n\x1a\n torn off"


def write(folder: Path, seed: int = 0) -> None:
    """Write the mini edition's raw material; the same seed gives the same bytes."""
    material = json.loads(_MATERIAL.read_text(encoding="utf-8"))
    problems, knowledge = material["problems"], material["knowledge"]
    files = {
        "raw_problems.json": format_json(
            {problem["id"]: _release_problem(problem) for problem in problems}
        ),
        "annotations.json": format_json(list(_annotations(problems, Random(seed)))),
        "knowledge_mini.json": format_json(
            {
                piece["name"]: {
                    "knowledge_content": piece["content"],
                    "knowledge_images": _image_paths(piece),
                }
                for piece in knowledge
            }
        ),
        "captions_mini_blip.csv": _captions(problems).encode(),
        "solver_responses.jsonl": _solver_responses(material["solver_responses"]).encode(),
    }
    for entry in (*problems, *knowledge):
        files |= _images(entry)
    write_files(folder, files)


def _release_problem(problem: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a problem of ``problems.json`` to the format of the release."""
    parts = problem["parts"]
    is_html = problem.get("format") == "html"  # names its own images
    return {
        "problem_content": problem.get("general", ""),
        "problem_content_list": [part["text"] for part in parts],
        "problem_type_list": [part["type"] for part in parts],
        "problem_answer_list": [part["answer"] for part in parts],
        "problem_analysis_list": [part["analysis"] for part in parts],
        "img_paths": [] if is_html else _image_paths(problem),
        "knowledge": problem.get("knowledge", []),
        "education": problem["education"],
        "subject": [problem["subject"]],
        "format": problem.get("format", "markdown"),
    }


def _annotations(problems: list[Mapping[str, Any]], rng: Random) -> Iterator[Mapping[str, Any]]:
    """Yield annotations of two rounds for every part; a round's note belongs to the first part."""
    for round_, annotator in enumerate(_ANNOTATORS, 1):
        for problem in problems:
            notes = [note for note in problem.get("notes", ()) if note["round"] == round_]
            for part_index in range(len(problem["parts"])):
                annotation = {
                    "item": f"{problem['id']}_{part_index}",
                    "round": round_,
                    "annotator": annotator,
                    "difficulty": rng.randint(1, 5),
                    "quality": rng.randint(2, 5),
                }
                if notes and part_index == 0:
                    annotation |= notes[0]
                yield annotation


def _solver_responses(entries: list[Mapping[str, Any]]) -> str:
    """Format the responses of two solvers as JSON lines."""
    responses = (
        {"question_id": entry["question_id"], "model": f"solver-{number}", "text": f"#### {answer}"}
        for entry in entries
        for number, answer in enumerate(entry["answers"], 1)
    )
    return "".join(json.dumps(response, ensure_ascii=False) + "\n" for response in responses)


def _captions(problems: list[Mapping[str, Any]]) -> str:
    """Format the captions of figures as lines ``path,caption``."""
    lines = []
    for problem in problems:
        for path, figure in zip(_image_paths(problem), problem.get("figures", ()), strict=True):
            if "caption" in figure:
                lines.append(f"{path},{figure['caption']}\n")
    return "".join(lines)


def _images(entry: Mapping[str, Any]) -> dict[str, bytes]:
    """Draw the figures of a problem or piece; "lost" has no file, "torn" one that cannot decode."""
    images: dict[str, bytes] = {}
    for path, figure in zip(_image_paths(entry), entry.get("figures", ()), strict=True):
        file = path.removeprefix("../data/")
        if figure["kind"] == "torn":
            images[file] = _CORRUPT_IMAGE
        elif figure["kind"] != "lost":
            images[file] = draw(figure)
    return images


def _image_paths(entry: Mapping[str, Any]) -> list[str]:
    """Paths of the figures of a problem, such as "czsx_0", or of a piece, in the release's form."""
    folder, name = entry["id"].split("_") if "id" in entry else ("knowledge", entry["name"])
    return [
        f"../data/images/{folder}/{name}_{number}.png"
        for number in range(1, len(entry.get("figures", ())) + 1)
    ]
