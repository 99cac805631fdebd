"""Composes responses with known intent: stem x statement x name x joiner x option text x language.

A style is a way in which some models write: templates, and how they name options. Slots of a
template begin with "@": ``@N`` the chosen option by a name, ``@L`` its letter, ``@T`` its text,
``@X``/``@Y`` letters of other options (``@XT`` its text), ``@LS`` several letters with a joiner,
``@REST`` all letters not chosen, ``@W``/``@V`` reasons that speak for none, ``@OPTS`` the options
one a line, ``@OPTB`` in one line, ``@NTH`` its ordinal, ``@STEM`` the question as a subject,
``@TICKS``/``@TABLE`` every option with a verdict, ``@F`` the letter in full width.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Any

HERE = Path(__file__).parent
N_OF_A_STYLE = 60
"""Responses a style: with 30 styles a bound of 0.3 % is about five responses."""

_SLOT = re.compile(r"@([A-Z]+)")
_NTH = {
    "en": ("first", "second", "third", "fourth", "fifth"),
    "zh": ("第一个", "第二个", "第三个", "第四个", "第五个"),
}
_JOINERS = {
    "en": (", ", " and ", ",", "", " & ", "/"),
    "zh": ("、", "", "，", "和", "与", " ", "以及"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """A question of the corpus."""

    language: str
    stem: str
    options: Sequence[str]
    reasons: Sequence[str]


@dataclass(frozen=True, slots=True)
class Style:
    """A way of writing responses."""

    name: str
    kind: str  # choice, choices, judgement, blanks, number, verdict, numbered, none
    language: str
    templates: Sequence[str]
    names: Sequence[str] = ("@L",)
    joiners: Sequence[str] = ()
    expected: Sequence[str] = ()  # of each template, for kinds that have no options
    options: Sequence[str] = ()  # of judgements
    least_options: int = 2
    points: int = 0  # of numbered verdicts
    languages: Sequence[str] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class Composed:
    """A response, and what it means: letters, or the values; () if it commits to nothing."""

    style: str
    kind: str
    language: str
    stem: str
    options: Sequence[str]
    response: str
    expected: tuple[str, ...]


@cache
def questions() -> Sequence[Question]:
    """Read the questions."""
    rows = tomllib.loads((HERE / "questions.toml").read_text("utf-8"))["question"]
    return [Question(**row) for row in rows]


def styles(file: str) -> list[Style]:
    """Read the styles of a file: ``written`` (rules may be written on them) or ``held_out``."""
    rows: list[dict[str, Any]] = tomllib.loads((HERE / f"{file}.toml").read_text("utf-8"))["style"]
    return [Style(**row) for row in rows]


def corpus(file: str, seed: int = 0) -> list[Composed]:
    """Compose the responses of every style of a file; the same for the same seed."""
    return [one for style in styles(file) for one in responses_of(style, seed)]


def responses_of(style: Style, seed: int = 0) -> list[Composed]:
    """Compose at most ``N_OF_A_STYLE`` different responses of a style."""
    found = {one.response + one.stem: one for one in islice(_drawn(style, seed), 4 * N_OF_A_STYLE)}
    return list(found.values())[:N_OF_A_STYLE]


def _drawn(style: Style, seed: int) -> Iterator[Composed]:
    if style.expected:
        for template, expected in zip(style.templates, style.expected, strict=True):
            means = tuple(expected.split("|")) if expected else ()
            options = tuple(style.options)
            yield Composed(style.name, style.kind, style.language, "", options, template, means)
        return
    rng = Random(f"{style.name}/{seed}")
    fitting = [
        one
        for one in questions()
        if one.language == style.language and len(one.options) >= style.least_options
    ]
    while True:
        question = rng.choice(fitting)
        letters = ascii_uppercase[: len(question.options)]
        several = style.kind == "choices"
        n = rng.randint(2, len(letters) - 1) if several else 1
        chosen = sorted(rng.sample(letters, n))
        response = _filled(style, question, chosen, rng)
        means = () if style.kind == "none" else tuple(chosen)
        yield Composed(
            style.name,
            style.kind,
            style.language,
            question.stem,
            tuple(question.options),
            response,
            means,
        )


def _filled(style: Style, question: Question, chosen: Sequence[str], rng: Random) -> str:
    letters = ascii_uppercase[: len(question.options)]
    texts = dict(zip(letters, question.options, strict=True))
    others = [one for one in letters if one not in chosen]
    first, joiners = chosen[0], style.joiners or _JOINERS[style.language]
    other, another = others[0], others[-1]
    reasons = rng.sample(list(question.reasons), 2)
    rest = "、" if style.language == "zh" else ", "
    slots = {
        "L": first,
        "T": texts[first],
        "X": other,
        "Y": another,
        "XT": texts[other],
        "YT": texts[another],
        "NTH": _NTH[style.language][letters.index(first)],
        "LS": rng.choice(joiners).join(chosen),
        "REST": rest.join(others),
        "W": reasons[0],
        "V": reasons[1],
        "STEM": question.stem,
        "OPTS": "\n".join(f"{a}. {text}" for a, text in texts.items()),
        "OPTB": " ".join(f"({a}) {text}" for a, text in texts.items()),
        "BULLETS": "\n".join(f"- {a}. {texts[a]}" for a in chosen),
        "LETTERLINES": "\n".join(f"- {a}" for a in chosen),
        "TICKS": "\n".join(
            f"{a}. {text} {'✅' if a in chosen else '❌'}" for a, text in texts.items()
        ),
        "XX": "\n".join(f"❌ {a}. {texts[a]}" for a in others),
        "TABLE": "\n".join(
            f"| {a} | {text} | {'Yes' if a in chosen else 'No'} |" for a, text in texts.items()
        ),
        "JSONLS": ", ".join(f'"{a}"' for a in chosen),
        "F": chr(ord(first) + 0xFEE0),
        "OPTA": texts["A"],
        "OPTBB": texts["B"],
    }
    template = rng.choice(style.templates).replace("@N", rng.choice(style.names))
    return _SLOT.sub(lambda slot: slots[slot[1]], template)
