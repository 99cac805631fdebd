"""Trains the model on the CPU: ``python -m examples.tiny_vlm.train --out FOLDER``.

``FOLDER/step-0100`` and so on are the checkpoints, by the steps since images are shown;
``FOLDER/record.json`` says how they were made and what they can do.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from examples.tiny_vlm.batches import Lesson, squeezed, untaken
from examples.tiny_vlm.blink_views import depths, pair, strewn, wall
from examples.tiny_vlm.exam import Album, sit, subjects
from examples.tiny_vlm.lessons import Asked, blink_questions, chosen, decoded
from examples.tiny_vlm.model import new_model, new_processor, new_tokenizer, save
from examples.tiny_vlm.record import Record
from examples.tiny_vlm.stages import Course
from examples.tiny_vlm.strange_views import strange

Plan: TypeAlias = Mapping[str, Any]
Lessons: TypeAlias = Mapping[str, Sequence[Lesson]]

_VIEWS = {
    "strewn": strewn,
    "pair": pair,
    "depths": depths,
    "wall": wall,
    "strange": strange,
}
_PLAN = Path(__file__).with_name("plan.json")
_CHUNK = 50  # lessons that a process draws at a time


def main() -> None:
    """Draw the lessons, train, examine the checkpoints, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the checkpoints")
    train(parser.parse_args().out, json.loads(_PLAN.read_text(encoding="utf-8")))


def train(out: Path, plan: Plan) -> None:
    """Train one run; the plan says how many lessons of what, for how many steps."""
    import torch

    torch.set_num_threads(plan["threads"])
    torch.manual_seed(plan["seed"])
    rng = Random(plan["seed"])
    record = Record(plan)
    lessons = draw_lessons(plan)
    tokenizer = new_tokenizer(_texts(lessons))
    model, processor = new_model(tokenizer), new_processor(tokenizer)
    folders = {step: out / f"step-{step:04}" for step in plan["checkpoints"]}

    def keep(step: int) -> None:
        if step in folders:
            save(model, processor, folders[step])

    course, stages = Course(model, tokenizer, record.log), plan["stages"]
    course.tell(_batches(stages["told"], lessons, rng), stages["told"]["steps"])
    shown = stages["shown"]["steps"]
    course.show(_batches(stages["shown"], lessons, rng), shown, keep)
    course.ask(
        _batches(stages["asked"], lessons, rng),
        stages["asked"]["steps"],
        lambda step: keep(shown + step),
    )
    album = Album()
    exam = subjects(plan["exam"]["questions"], album)
    for folder in folders.values():
        record.mark(folder.name, sit(folder, exam, album))
    record.write(out / "record.json", sum(part.numel() for part in model.parameters()))


def draw_lessons(plan: Plan) -> dict[str, list[Lesson]]:
    """Draw the views and the mini edition's questions of the plan, in two processes."""
    lessons: dict[str, list[Lesson]] = {}
    with ProcessPoolExecutor(2) as pool:
        for what, draw in (("views", _views), ("questions", _questions)):
            for kind, n in plan[what].items():
                starts = range(0, n, _CHUNK)
                sizes = [min(_CHUNK, n - start) for start in starts]
                seeds = [plan["first_seed"] + start for start in starts]
                chunks = pool.map(draw, repeat(kind), seeds, sizes)
                lessons[kind] = [lesson for chunk in chunks for lesson in chunk]
    return lessons


def _views(kind: str, seed: int, n: int) -> list[Lesson]:
    views = [_VIEWS[kind](Random(f"{kind} {seed + nth}")) for nth in range(n)]
    return [Lesson(squeezed(view.draw()), view.cells, view.talk) for view in views]


def _questions(task: str, seed: int, n: int) -> list[Lesson]:
    """Lessons from the mini edition itself, of a seed that neither it nor the exam has."""
    return [
        Lesson(
            squeezed(decoded(one.data)), None, [Asked(one.question.context, chosen(one.question))]
        )
        for one in blink_questions(task, seed, n)
    ]


def _batches(stage: Plan, lessons: Lessons, rng: Random) -> Iterator[list[Lesson]]:
    """Draw lessons of each kind as often as the plan has it."""
    shares, fresh = stage["shares"], stage["fresh"]
    while True:
        yield [
            untaken(_VIEWS[kind](rng)) if kind in fresh else rng.choice(lessons[kind])
            for kind in rng.choices(list(shares), list(shares.values()), k=stage["lessons_a_step"])
        ]


def _texts(lessons: Lessons) -> Iterator[str]:
    """Everything that the tokenizer should have words for."""
    for kind in lessons.values():
        for lesson in kind:
            yield from (text for asked in lesson.talk for text in (asked.prompt, asked.response))
            yield from (f" {word}" for words in (lesson.cells or {}).values() for word in words)
    yield from repeat("system\nuser\nassistant\n", _CHUNK)


if __name__ == "__main__":
    main()
