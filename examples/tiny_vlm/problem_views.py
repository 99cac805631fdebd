"""Views of JourneyBench's word problems: things to be counted, among others or absent."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.core.text.number_words import format_number, list_numbers
from bench_assets.suites.journeybench import synthetic
from bench_assets.suites.journeybench.mcot.planned_images import image_reference, replace_quantities
from bench_assets.suites.journeybench.mcot.problems import Problem, solve
from bench_assets.suites.journeybench.mcot.task import main
from examples.tiny_vlm.lessons import Asked, plain_question, text_of
from examples.tiny_vlm.views import View, cells_of

_MATERIAL = Path(synthetic.__file__).with_name("problems.json")
_SIDE = 336  # px, as the mini edition's painter has it
_GROUNDS = ("white", "whitesmoke", "aliceblue", "honeydew", "lavenderblush", "lightyellow")
_SIZES = ((6, 64), (14, 48), (30, 36))  # most things, px of each
_OTHERS = ("potted plant", "soccer ball", "teapot", "mushroom", "kite", "umbrella")
_NUMBERS = range(2, 13)
_ABSENT = 0.1  # share of views that do not show what is asked about


class _Counted(NamedTuple):
    """A problem whose first quantity is to be counted."""

    prompt: str
    things: str
    sprite: str
    answers: Mapping[int, str]  # by number of things


def problems(rng: Random) -> View:
    """Strew the things of a word problem, with others, alone, or not at all."""
    counted = rng.choice(_problems())
    others = [thing for thing in _OTHERS if thing != counted.sprite]
    beside = (rng.choice(others), rng.randint(2, 4))
    if rng.random() < _ABSENT:
        return _view([beside], Asked(counted.prompt, f"There are no {counted.things}"), rng)
    number = rng.choice(sorted(counted.answers))
    response = f"{number} {counted.things}. Answer: {counted.answers[number]}"
    shown = [(counted.sprite, number), *([beside] if rng.random() < 0.5 else [])]
    return _view(shown, Asked(counted.prompt, response), rng)


def _view(shown: list[tuple[str, int]], asked: Asked, rng: Random) -> View:
    total = sum(number for _, number in shown)
    size = next(px for most, px in _SIZES if total <= most)
    while (scene := _strewn(shown, size, rng)) is None:
        size -= 4
    named = [(thing.name, *thing.centre) for thing in scene.placed]
    return View([cells_of(named, (_SIDE, _SIDE))], [asked], lambda: [scene.image])


def _strewn(shown: list[tuple[str, int]], size: int, rng: Random) -> Scene | None:
    scene = Scene(_SIDE, _SIDE, background=rng.choice(_GROUNDS))
    for name, number in shown:
        for _ in range(number):
            if (place := scene.room(size, size, rng)) is None:
                return None
            scene.sprite(name, place, size, mirrored=rng.random() < 0.5)
    return scene


@cache
def _problems() -> list[_Counted]:
    material = json.loads(_MATERIAL.read_text(encoding="utf-8"))
    return [counted for entry in material["problems"] for counted in _read(entry)]


def _read(entry: Mapping[str, Any]) -> Iterator[_Counted]:
    """Read a problem, if it can be solved with other numbers."""
    quantity = entry["proposals"][0]
    solution, answer = entry["answer"].split("\n#### ")
    problem = Problem(
        problem_id="lesson", question=entry["question"], solution=solution, answer=answer
    )
    solved = {number: solve(problem, {float(quantity["number"]): number}) for number in _NUMBERS}
    answers = {
        number: format_number(solution.answer)
        for number, solution in solved.items()
        if solution
        and solution.answer.is_integer()
        and number not in list_numbers(problem.question.replace(quantity["text"], ""))
    }
    if answers:
        asked = replace_quantities(
            problem.question, {quantity["text"]: image_reference(quantity["things"])}
        )
        sprite = quantity["image_prompt"].rpartition("of: ")[2]
        prompt = text_of(main(plain_question(asked)))
        yield _Counted(prompt, quantity["things"], sprite, answers)
