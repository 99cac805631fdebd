"""What the writer of the mini edition responses, and what people make of it.

Three questions are planted whose right option is far longer than the others: one is dropped by
hand, one replaced, and one left to the model that sees no image.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from bench_assets.suites.cogbench.construction.selection import question_id
from bench_assets.suites.cogbench.dataset.reasoning_kinds import KINDS
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from bench_assets.suites.cogbench.synthetic.tales import ChainQuestion, StoryReasoning, Tale

_LETTERS = "ABCD"
_PLANTED = ("window-1", "window-2", "window-3")
_TAIL = ", as anybody can see at once"


def responses(tales: Sequence[Tale], rng: Random) -> Iterator[str]:
    """Write the lines of the writer's responses.

    Every tenth is broken at first, and one stays so.
    """
    assignments = [
        (tale, kind.code, blocks)
        for tale in tales
        for kind in KINDS
        for told in tale.told
        if told.kind == kind.code and (blocks := [_block(a, rng) for a in _asked(tale, told)])
    ]
    for number, (tale, code, blocks) in enumerate(assignments):
        good = "\n\n".join([*blocks, *blocks[:1]] if number == 0 else blocks)
        broken = _BROKEN[number // 10 % len(_BROKEN)](good)
        texts = [broken, good] if number % 10 == 4 else [good]
        name = f"cogbench/writing/{tale.name}/{code}"
        for sample, text in enumerate([broken] * 3 if number == 17 else texts):
            line = {"question_id": name, "sample": sample, "text": text}
            yield json.dumps(line, ensure_ascii=False) + "\n"


def refinements(tales: Sequence[Tale]) -> list[dict[str, object]]:
    """Drop one and mend one of the planted questions."""
    first, second = (_planted(tale) for tale in tales if tale.name in _PLANTED[:2])
    note = "the right option is far longer than the others"
    return [
        {"question_id": _identity(*first), "action": "drop", "note": note},
        {"question_id": _identity(*second), "action": "replace", "note": note, **_mended(*second)},
    ]


def _asked(tale: Tale, told: StoryReasoning) -> list[ChainQuestion]:
    """What is asked about a chain, with a planted fault where there is one."""
    if tale.name in _PLANTED and told.kind == "character":
        (asked,) = told.questions
        options = [
            text.removesuffix(".") + f"{_TAIL}." if number == asked.right else text
            for number, text in enumerate(asked.options)
        ]
        return [replace(asked, options=tuple(options))]
    return list(told.questions)


def _planted(tale: Tale) -> tuple[Tale, StoryReasoning]:
    return next((tale, told) for told in tale.told if told.kind == "character")


def _identity(tale: Tale, told: StoryReasoning) -> str:
    (asked,) = _asked(tale, told)
    return question_id(
        SourceQuestion(
            where="",
            image_id=tale.name,
            category=told.kind,
            text=asked.text,
            options=asked.options,
            answer=_LETTERS[asked.right],
        )
    )


def _mended(_: Tale, told: StoryReasoning) -> Mapping[str, object]:
    (asked,) = told.questions
    return {
        "question": asked.text,
        "options": list(asked.options),
        "answer": _LETTERS[asked.right],
    }


def _block(asked: ChainQuestion, rng: Random) -> str:
    order = rng.sample(range(len(asked.options)), len(asked.options))
    lines = [f"{a}. {asked.options[at]}" for a, at in zip(_LETTERS, order, strict=True)]
    right = _LETTERS[order.index(asked.right)]
    return "\n".join([asked.text, *lines, f"Correct Answer: [{right}]"])


def _preamble(text: str) -> str:
    return f"Sure! Here are the questions:\n{text}"


def _no_brackets(text: str) -> str:
    return text.replace("[", "").replace("]", "")


def _three_options(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("C. "))


def _silent(text: str) -> str:
    return text[:0]


_BROKEN = (_preamble, _no_brackets, _three_options, _silent)
