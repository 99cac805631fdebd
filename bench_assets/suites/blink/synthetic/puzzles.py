"""Mini raw material for the IQ test: rows of images that follow a rule."""

import json
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from PIL import Image, ImageDraw

from bench_assets.core.images.drawing import jpeg
from bench_assets.suites.blink.synthetic.surfaces import levels, noise

_CELL = 110  # px
_COLOURS = ("crimson", "royalblue", "seagreen", "darkorange", "purple", "black")


class _Puzzle(NamedTuple):
    shown: tuple[int, int, int]  # the first three values of the sequence
    right: int
    wrong: tuple[int, int, int]
    explanation: str


def puzzles(rng: Random, n: int) -> dict[str, bytes]:
    """Write puzzles about numbers of dots, turned hands and growing polygons."""
    files: dict[str, bytes] = {}
    lines = []
    for nth in range(n):
        make, draw = _RULES[nth % len(_RULES)]
        puzzle = make(rng)
        place = nth % 4
        options = (*puzzle.wrong[:place], puzzle.right, *puzzle.wrong[place:])
        name = f"images/{nth:02}.jpg"
        files[name] = jpeg(_drawn(puzzle, options, draw, rng))
        answer = "ABCD"[place]
        said = f"{puzzle.explanation} So the next picture is {answer}."
        lines.append({"id": f"{nth:02}", "image": name, "answer": answer, "explanation": said})
    files["puzzles.jsonl"] = "".join(json.dumps(line) + "\n" for line in lines).encode()
    return files


def _drawn(
    puzzle: _Puzzle,
    options: tuple[int, ...],
    draw: Callable[[ImageDraw.ImageDraw, int, tuple[int, int], str], None],
    rng: Random,
) -> Image.Image:
    """Draw three values and an empty cell, and the options below with their letters."""
    ground = noise(rng, 4 * _CELL + 120, 2 * _CELL + 100, finest=8)
    sheet = Image.fromarray(levels(60 + 0.8 * ground))  # no two sheets look alike
    pen = ImageDraw.Draw(sheet)
    colour, drop, indent = rng.choice(_COLOURS), rng.randint(0, 30), rng.randint(0, 60)
    for row, values in enumerate(((*puzzle.shown, None), options)):
        for column, value in enumerate(values):
            left, top = 12 + indent + column * (_CELL + 12), 10 + drop + row * (_CELL + 10)
            panel = (rng.randint(160, 255),) * 3
            pen.rectangle((left, top, left + _CELL, top + _CELL), fill=panel, outline="black")
            centre = (left + _CELL // 2, top + _CELL // 2)
            if value is None:
                pen.text(centre, "?", fill="black", anchor="mm", font_size=60)
            else:
                draw(pen, value, centre, colour)
            if row:
                below = (centre[0], top + _CELL + 20)
                pen.text(below, "ABCD"[column], fill="black", anchor="mm", font_size=26)
    return sheet


def _dots(rng: Random) -> _Puzzle:
    start, step = rng.randint(1, 3), rng.choice((1, 2))
    shown = (start, start + step, start + 2 * step)
    right = start + 3 * step
    wrong = rng.sample([v for v in range(1, 10) if v != right], 3)
    said = f"Each picture has {step} more of the dots than the one before."
    return _Puzzle(shown, right, (wrong[0], wrong[1], wrong[2]), said)


def _hands(rng: Random) -> _Puzzle:
    """Values are degrees clockwise from upright."""
    start, step = rng.randrange(0, 360, 45), rng.choice((45, 90, 135))
    shown = (start, (start + step) % 360, (start + 2 * step) % 360)
    right = (start + 3 * step) % 360
    wrong = rng.sample([v for v in range(0, 360, 45) if v != right], 3)
    said = f"The hand turns clockwise by {step} degrees each time."
    return _Puzzle(shown, right, (wrong[0], wrong[1], wrong[2]), said)


def _corners(rng: Random) -> _Puzzle:
    start = rng.randint(3, 5)
    right = start + 3
    wrong = rng.sample([v for v in range(3, 10) if v != right], 3)
    said = "The polygon has one more corner each time."
    return _Puzzle((start, start + 1, start + 2), right, (wrong[0], wrong[1], wrong[2]), said)


def _draw_dots(pen: ImageDraw.ImageDraw, value: int, centre: tuple[int, int], colour: str) -> None:
    for nth in range(value):
        x, y = centre[0] + 30 * (nth % 3 - 1), centre[1] + 30 * (nth // 3 - 1)
        pen.ellipse((x - 11, y - 11, x + 11, y + 11), fill=colour)


def _draw_hand(pen: ImageDraw.ImageDraw, value: int, centre: tuple[int, int], colour: str) -> None:
    x, y = centre
    pen.ellipse((x - 48, y - 48, x + 48, y + 48), outline=colour, width=4)
    pen.pieslice((x - 46, y - 46, x + 46, y + 46), value - 108, value - 72, fill=colour)


def _draw_polygon(
    pen: ImageDraw.ImageDraw, value: int, centre: tuple[int, int], colour: str
) -> None:
    pen.regular_polygon((*centre, 46), value, fill=colour)


_RULES = ((_dots, _draw_dots), (_hands, _draw_hand), (_corners, _draw_polygon))
