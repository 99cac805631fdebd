"""The mini edition: entries and figures in the authors' format, with what is true of each.

Every set has an original figure and an edited one, and two questions whose answers the edit turns
round. So half of all answers are yes, also by question, figure and topic, and whoever does not look
gets no control pair right. What VS asks without a figure is common knowledge, and true of the
original figure: the edited one shows what is not so.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from hallusion_bench.mini import figures

_WORLDS = Path(__file__).with_name("worlds.json")
_ILLUSIONS: Mapping[str, figures.Illusion] = {
    "lines": figures.lines,
    "circles": figures.circles,
    "patches": figures.patches,
}
_FACTS: Mapping[str, Callable[[Random, str, Mapping[str, int]], bytes]] = {
    "chart": figures.chart,
    "table": figures.table,
    "map": figures.land,
}


class _Statement(NamedTuple):
    """What one question asks; it is true of the original figure, or of the edited one."""

    question: str
    said: str  # the statement, as a sentence
    of_original: bool
    without_figure: str = ""  # the question where no figure is shown


class _Set(NamedTuple):
    category: str
    subcategory: str
    note: str
    original: bytes
    edited: bytes
    statements: tuple[_Statement, _Statement]  # one denies the other


def write(folder: Path, seed: int = 0) -> None:
    """Write the mini edition: 122 questions about 50 figures, in the authors' format.

    The same seed writes the same bytes. Files that hold them already are left alone.

    Args:
        folder: A folder of its own; made if need be.
        seed: Draws where things lie and what is asked.
    """
    rng = Random(seed)
    worlds = json.loads(_WORLDS.read_text(encoding="utf-8"))
    files: dict[str, bytes] = {}
    entries: list[dict[str, str | None]] = []
    numbers: Counter[tuple[str, str]] = Counter()
    for one in _sets(worlds, rng):
        number = numbers[one.category, one.subcategory]
        numbers[one.category, one.subcategory] += 1
        for entry, figure in _entries(one, str(number)):
            entries.append(entry)
            if name := entry["filename"]:
                files[name] = figure
    files["HallusionBench.json"] = (json.dumps(entries, indent=1) + "\n").encode()
    for name, data in files.items():
        _write(folder / name, data)


def _sets(worlds: Mapping[str, Any], rng: Random) -> Iterator[_Set]:
    for fact in worlds["facts"]:
        yield _fact(fact, rng)
    for illusion in worlds["illusions"]:
        for _ in range(2):
            yield _illusion(illusion, rng)
    for words in worlds["signs"]:
        yield _sign(words, rng)
    for move in worlds["moves"]:
        yield _move(move, rng)


def _illusion(world: Mapping[str, str], rng: Random) -> _Set:
    same, of_two, differs = world["same"], world["of_two"], world["differs"]
    one = f"one of the two {of_two} {{}}{differs} than the other"
    statements = (
        _Statement(f"Are the two {of_two} {same}?", f"The two {of_two} are {same}.", True),
        _Statement(f"Is {one.format('')}?", f"O{one.format('is ')[1:]}.", False),
    )
    drawn, seed = _ILLUSIONS[world["drawn"]], rng.random()
    original, edited = drawn(Random(seed), True), drawn(Random(seed), False)
    return _Set("VD", "illusion", world["drawn"], original, edited, _ordered(statements, rng))


def _sign(words: list[str], rng: Random) -> _Set:
    first, second = words if rng.random() < 0.5 else reversed(words)
    statements = tuple(
        _Statement(f'Does the sign read "{word}"?', f'The sign reads "{word}".', word == first)
        for word in (first, second)
    )
    seed = rng.random()
    original, edited = (figures.sign(Random(seed), word) for word in (first, second))
    return _Set("VD", "ocr", first, original, edited, _ordered(statements, rng))


def _move(world: Mapping[str, Any], rng: Random) -> _Set:
    sprite, forth = world["sprite"], rng.random() < 0.5
    statements = tuple(
        _Statement(
            f"According to the order of the frames, does the {sprite} {verb}?",
            f"The {sprite} does {verb}.",
            forwards == forth,
        )
        for verb, forwards in ((world["forth"], True), (world["back"], False))
    )
    seed = rng.random()
    original, edited = (
        figures.sequence(Random(seed), sprite, world["step"], reverse=reverse)
        for reverse in (not forth, forth)
    )
    return _Set("VD", "video", sprite, original, edited, _ordered(statements, rng))


def _fact(world: Mapping[str, Any], rng: Random) -> _Set:
    """More and less of something; the edited figure has the two exchanged."""
    title, values = world["title"], world["values"]
    one, other = sorted(rng.sample(list(values), 2), key=values.__getitem__, reverse=True)
    asked = [f"{a} {world['than']} {b}" for a, b in ((one, other), (other, one))]
    a_figure = f"According to the {world['drawn']}, is"
    statements = tuple(
        _Statement(f"{a_figure} {what}?", f"{_is(what, world['than'])}.", so, f"Is {what}?")
        for what, so in zip(asked, (True, False), strict=True)
    )
    exchanged = values | {one: values[other], other: values[one]}
    drawn, seed = _FACTS[world["drawn"]], rng.random()
    original, edited = (drawn(Random(seed), title, shown) for shown in (values, exchanged))
    return _Set("VS", world["drawn"], title, original, edited, _ordered(statements, rng))


def _is(what: str, than: str) -> str:
    said = what.replace(than, f"is {than}", 1)
    return said[0].upper() + said[1:]


def _ordered(statements: tuple[_Statement, ...], rng: Random) -> tuple[_Statement, _Statement]:
    first, second = rng.sample(statements, 2)
    return first, second


def _entries(one: _Set, number: str) -> Iterator[tuple[dict[str, str | None], bytes]]:
    """Ask both statements of every figure; VS asks them first without one."""
    shown = [("1", one.original), ("2", one.edited)]
    if one.category == "VS":
        shown.insert(0, ("0", b""))
    for figure, (visual_input, drawn) in enumerate(shown):
        for question, statement in enumerate(one.statements):
            holds = statement.of_original == (visual_input != "2")
            true = statement if holds else one.statements[1 - question]
            name = f"./{one.category}/{one.subcategory}/{number}_{figure}.png"
            entry = {
                "category": one.category,
                "subcategory": one.subcategory,
                "visual_input": visual_input,
                "set_id": number,
                "figure_id": str(figure),
                "sample_note": one.note,
                "question_id": str(question),
                "question": statement.question if drawn else statement.without_figure,
                "gt_answer_details": true.said,
                "gt_answer": "1" if holds else "0",
                "filename": name if drawn else None,
            }
            yield entry, drawn


def _write(path: Path, data: bytes) -> None:
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
