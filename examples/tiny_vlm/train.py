"""Trains the model on the CPU: ``python -m examples.tiny_vlm.train --out FOLDER``.

``FOLDER/step-0500`` and so on are the checkpoints, by the steps since images are shown;
``FOLDER/record.json`` says how they were made. ``--from CHECKPOINT`` leaves out all worlds but
the last.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import count, islice, repeat
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from bench_assets.suites.blink.dataset import PERCEPTION_TASKS
from examples.tiny_vlm.batches import Lesson, squeezed, untaken
from examples.tiny_vlm.blink_questions import blink_questions
from examples.tiny_vlm.blink_views import pair, strewn
from examples.tiny_vlm.box_views import boxes, turned
from examples.tiny_vlm.context_views import scene
from examples.tiny_vlm.model import grown, new_model, new_processor, new_tokenizer, save
from examples.tiny_vlm.pool_views import forgeries, styles
from examples.tiny_vlm.problem_views import problems
from examples.tiny_vlm.record import Record
from examples.tiny_vlm.stages import Course
from examples.tiny_vlm.story_views import stories
from examples.tiny_vlm.strange_views import strange
from examples.tiny_vlm.views import View

Plan: TypeAlias = Mapping[str, Any]
Lessons: TypeAlias = Mapping[str, Sequence[Lesson]]

_VIEWS: Mapping[str, Callable[[Random], View]] = {
    "strewn": strewn,
    "pair": pair,
    "strange": strange,
    "scene": scene,
    "styles": styles,
    "forgeries": forgeries,
    "boxes": boxes,
    "turned": turned,
    "problems": problems,
}
_PLAN = Path(__file__).with_name("plan.json")
_CHUNK = 50  # lessons that a process draws at a time
_SORTED = 8  # batches that are drawn together and sorted by length
_QUESTIONS = 3  # of a lesson at a time
_LOOKED_AT = 100  # images that tell what an empty cell looks like


def main() -> None:
    """Draw the lessons, train, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the checkpoints")
    parser.add_argument("--from", type=Path, dest="start", help="checkpoint to go on from")
    given = parser.parse_args()
    train(given.out, json.loads(_PLAN.read_text(encoding="utf-8")), given.start)


def train(out: Path, plan: Plan, start: Path | None = None) -> None:
    """Train one run; the plan says how many lessons of what, for how many steps."""
    import torch

    torch.set_num_threads(plan["threads"])
    torch.manual_seed(plan["seed"])
    rng, record = Random(plan["seed"]), Record(plan)
    lessons = draw_lessons(plan)
    for world in plan["worlds"][-1 if start else 0 :]:
        start = _learn(out, world, lessons, rng, record, start)
    record.write(out / "record.json")


def _learn(
    out: Path, world: Plan, lessons: Lessons, rng: Random, record: Record, start: Path | None
) -> Path:
    """Learn a world in three stages, and return the last checkpoint."""
    taught = {kind for stage in ("told", "shown", "asked") for kind in world[stage]["shares"]}
    texts = list(_texts({kind: lessons[kind] for kind in sorted(taught)}))
    if start:
        model, tokenizer = grown(start, texts)
    else:
        tokenizer = new_tokenizer(texts)
        model = new_model(tokenizer)
    course, done = Course(model, tokenizer, record.log), _step(start) if start else 0
    if start:
        drawn = [rng.choice(lessons[rng.choice(world["look"])]) for _ in range(_LOOKED_AT)]
        course.settle(drawn)
    shown, asked = world["shown"]["steps"], world["asked"]["steps"]
    kept = {*world["checkpoints"], done + shown + asked}
    processor = new_processor(tokenizer)

    def keep(step: int) -> None:
        if step in kept:
            save(model, processor, out / f"step-{step:04}")

    course.tell(_batches(world["told"], lessons, rng, course.length), world["told"]["steps"])
    course.show(_batches(world["shown"], lessons, rng), shown, lambda step: keep(done + step))
    batches = _mixed(world, lessons, rng, course.length)
    course.ask(batches, asked, lambda step: keep(done + shown + step))
    return out / f"step-{done + shown + asked:04}"


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def draw_lessons(plan: Plan) -> dict[str, list[Lesson]]:
    """Draw the views of the plan, in two processes."""
    lessons: dict[str, list[Lesson]] = {}
    with ProcessPoolExecutor(2) as pool:
        for kind, n in plan["views"].items():
            starts = range(0, n, _CHUNK)
            sizes = [min(_CHUNK, n - start) for start in starts]
            seeds = [plan["first_seed"] + start for start in starts]
            chunks = pool.map(_drawn, repeat(kind), seeds, sizes)
            lessons[kind] = [lesson for chunk in chunks for lesson in chunk]
    return lessons


def _drawn(kind: str, seed: int, n: int) -> list[Lesson]:
    return [
        Lesson([squeezed(image) for image in view.draw()], view.cells, view.talk)
        for view in islice(_views(kind, seed), n)
    ]


def _views(kind: str, seed: int) -> Iterator[View]:
    """Views of a kind; the same seed gives the same ones."""
    if kind == "stories":
        return (view for nth in count() for view in stories(seed * 100 + nth))
    if kind in PERCEPTION_TASKS:
        return (view for nth in count(seed) for view in blink_questions(kind, nth))
    return (_VIEWS[kind](Random(f"{kind} {nth}")) for nth in count(seed))


def _batches(
    stage: Plan, lessons: Lessons, rng: Random, length: Callable[[Lesson], int] | None = None
) -> Iterator[list[Lesson]]:
    """Draw lessons of each kind as often as the plan has it.

    With a ``length``, lessons have few questions, and those of about one length come together:
    what fills up the shorter ones costs as much time as what is asked. Without one, no question is
    asked, and images come one by one.
    """
    shares, fresh, n = stage["shares"], stage["fresh"], stage["lessons_a_step"]
    while True:
        drawn = [
            untaken(_VIEWS[kind](rng)) if kind in fresh else rng.choice(lessons[kind])
            for kind in rng.choices(list(shares), list(shares.values()), k=n * _SORTED)
        ]
        if length:
            drawn = sorted((_shortened(one, rng) for one in drawn), key=length)
        else:
            drawn = [_one_image(one, rng) for one in drawn]
        batches = [drawn[first : first + n] for first in range(0, len(drawn), n)]
        yield from rng.sample(batches, len(batches))


def _mixed(
    world: Plan, lessons: Lessons, rng: Random, length: Callable[[Lesson], int]
) -> Iterator[list[Lesson]]:
    """Ask about images, and in between about cells of words: that costs less, and is kept so."""
    stage = world["asked"]
    told = _batches(world["told"], lessons, rng, length)
    asked = _batches(stage, lessons, rng, length)
    while True:
        if rng.random() < stage["told"]:
            yield [replace(lesson, images=()) for lesson in next(told)]
        else:
            yield next(asked)


def _one_image(lesson: Lesson, rng: Random) -> Lesson:
    image, cells = rng.choice(list(zip(lesson.images, lesson.cells, strict=True)))
    return replace(lesson, images=[image], cells=[cells], talk=())


def _shortened(lesson: Lesson, rng: Random) -> Lesson:
    """Choose some of a lesson's questions."""
    return replace(lesson, talk=rng.sample(lesson.talk, min(_QUESTIONS, len(lesson.talk))))


def _texts(lessons: Lessons) -> Iterator[str]:
    """Everything that the tokenizer should have words for."""
    for kind in lessons.values():
        for lesson in kind:
            yield from (text for asked in lesson.talk for text in (asked.prompt, asked.response))
            yield from (
                f" {word}" for cells in lesson.cells for words in cells.values() for word in words
            )
    yield from repeat("system\nuser\nassistant\n", _CHUNK)


if __name__ == "__main__":
    main()
