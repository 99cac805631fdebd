"""Views of CogBench's mini world, in combinations that its mini edition does not show."""

import json
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image

from bench_assets.suites.cogbench import synthetic
from bench_assets.suites.cogbench.construction.selection import shuffle_options
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from bench_assets.suites.cogbench.synthetic.tales import (
    LETTERS,
    Tale,
    all_parts,
    choose_openings,
    draw_scene,
    tales,
)
from bench_assets.suites.cogbench.vqa import prompts
from examples.tiny_vlm.lessons import Asked, decoded, plain_question, text_of
from examples.tiny_vlm.views import View, cells_of

_MATERIAL = Path(synthetic.__file__).with_name("stories.json")
_SIZE = (384, 288)  # px
_QUESTIONS = 4  # about one view
_TESTED_SEED = 0  # of the mini edition


def stories(seed: int) -> list[View]:
    """Draw the tales of one edition, without those that the mini edition has."""
    return [
        _view(tale, Random(f"{seed} {tale.name}"))
        for tale in _tales(seed)
        if tale_content(tale) not in held_out_tales()
    ]


def tale_content(tale: Tale) -> tuple[str, ...]:
    """What a tale shows, whatever the places."""
    return (tale.background, *(part["sprite"] for part in all_parts(tale)))


@cache
def held_out_tales() -> frozenset[tuple[str, ...]]:
    """What the images of the mini edition show."""
    return frozenset(map(tale_content, _tales(_TESTED_SEED)))


def _tales(seed: int) -> list[Tale]:
    return choose_openings(tales(_material(), Random(seed)))


@cache
def _material() -> Any:  # noqa: ANN401
    return json.loads(_MATERIAL.read_text(encoding="utf-8"))


def _view(tale: Tale, rng: Random) -> View:
    parts = all_parts(tale)
    named = [(part["sprite"], *part["at"]) for part in parts]
    questions = list(_questions(tale, rng))
    talk = rng.sample(questions, min(_QUESTIONS, len(questions)))
    return View([cells_of(named, _SIZE)], talk, partial(_drawn, tale, parts, rng.getrandbits(32)))


def _drawn(tale: Tale, parts: Sequence[Any], seed: int) -> list[Image.Image]:
    return [decoded(draw_scene(tale.background, tale.ground, parts, Random(seed)))]


def _questions(tale: Tale, rng: Random) -> Iterator[Asked]:
    for told in tale.told:
        for asked in told.questions:
            written = SourceQuestion(
                where="",
                image_id=f"{tale.name} {rng.random()}",
                category=told.kind,
                text=asked.text,
                options=asked.options,
                answer=LETTERS[asked.right],
            )
            shown = shuffle_options(written, 0)
            prompt = text_of(prompts.main(plain_question(shown.text, *shown.options)))
            seen = told.parts[0]["sprite"]
            yield Asked(prompt, f" {seen}: {asked.options[asked.right]}")
