"""What the writer of the mini edition replies, and what people make of it.

Each chain of ``mini_stories.json`` has the question that the writer makes of its conclusion, and
some have one about their evidence, ``why``. The right option is ``right``, or the conclusion
itself; ``not`` are the others.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from bench_assets.cogbench.kinds import KINDS
from bench_assets.cogbench.source import SourceQuestion
from bench_assets.cogbench.vqa.questions import question_id

_VOTES = 2  # annotators who have to note a chain before anybody writes a question about it
_LETTERS = "ABCD"


class Picture(NamedTuple):
    """A picture of the mini edition."""

    name: str
    story: Mapping[str, Any]  # with the words of its variation filled in


def replies(pictures: Sequence[Picture], rng: Random) -> Iterator[str]:
    """Write the lines of the writer's replies: every tenth is broken at first, and one stays so."""
    assignments = [
        (picture, kind.code, blocks)
        for picture in pictures
        for kind in KINDS
        if (blocks := [b for c in _written_about(picture, kind.code) for b in _blocks(c, rng)])
    ]
    for number, (picture, code, blocks) in enumerate(assignments):
        good = "\n\n".join([*blocks, *blocks[:1]] if number == 0 else blocks)
        broken = _BROKEN[number // 10 % len(_BROKEN)](good)
        texts = [broken, good] if number % 10 == 4 else [good]
        name = f"cogbench/writing/{picture.name}/{code}"
        for sample, text in enumerate([broken] * 3 if number == 17 else texts):
            line = {"question_id": name, "sample": sample, "text": text}
            yield json.dumps(line, ensure_ascii=False) + "\n"


def refinements(pictures: Sequence[Picture]) -> list[dict[str, object]]:
    """Drop one and mend one of three questions whose right option is far too long."""
    first, second = (
        question_id(question)
        for picture in pictures
        if picture.name in ("window-1", "window-2")
        for chain in picture.story["chains"]
        if chain["kind"] == "character"
        for question in _questions(chain, picture.name)
    )
    note = "the right option is far longer than the others"
    return [
        {"question_id": first, "action": "drop", "note": note},
        {
            "question_id": second,
            "action": "replace",
            "note": note,
            "question": "Who is the woman?",
            "options": ["A referee.", "A postwoman.", "A resident.", "A trainer."],
            "answer": "C",
        },
    ]


def _written_about(picture: Picture, code: str) -> list[Mapping[str, Any]]:
    return [
        chain
        for chain in picture.story["chains"]
        if chain["kind"] == code and len(chain.get("by", "all")) >= _VOTES
    ]


def _blocks(chain: Mapping[str, Any], rng: Random) -> Iterator[str]:
    for question in _questions(chain):
        options = rng.sample(question.options, len(question.options))
        right = _LETTERS[options.index(question.options[0])]
        lines = [f"{letter}. {text}" for letter, text in zip(_LETTERS, options, strict=True)]
        yield "\n".join([question.text, *lines, f"Correct Answer: [{right}]"])


def _questions(chain: Mapping[str, Any], image_id: str = "") -> Iterator[SourceQuestion]:
    for asked in (chain, chain.get("why")):
        if asked:
            right = asked.get("right", chain["so"][0])
            yield SourceQuestion(
                where="",
                image_id=image_id,
                category=chain["kind"],
                text=asked["ask"],
                options=(right, *asked["not"]),
                answer="A",
            )


def _preamble(text: str) -> str:
    return f"Sure! Here are the questions:\n{text}"


def _no_brackets(text: str) -> str:
    return text.replace("[", "").replace("]", "")


def _three_options(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("C. "))


def _silent(text: str) -> str:
    return text[:0]


_BROKEN = (_preamble, _no_brackets, _three_options, _silent)
