"""Signatures of metrics: everything needed to reproduce a number, as in sacrebleu.

``Setups`` are the configurations of the model and the judge, stored in one column.

>>> setups = [format_model_setup("0c"), format_judge_setup("default", "5f")] * 2
>>> split_setups(join_setups(setups))
Setups(model={'model=0c'}, judge={'judge=default:5f'})
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from bench_assets.core.schema.errors import TableError

_DIGITS = 12  # hexadecimal digits of a digest

OPEN, EXPIRED = "open", "expired"
"""Parts of a signature, and labels of questions: the numbers of open and of expired annotation
units when the questions were built."""
DRAWS = "draws"
"""Part of a signature: the number of responses drawn for each question, if several."""
_START = re.compile(r"(?P<task>[^|]*)\|v(?P<version>\d+)\|(?P<condition>[^|]*)(?P<parts>.*)", re.S)
_MODEL = re.compile(  # may contain bars: ends before the known parts that follow
    r"(?P<model>.*?)(?P<later>(?:\|judge:[^|]*)?(?:\|scorer:[^|]*)?(?:\|no_answer:\d+)?"
    r"(?:\|refused:\d+)?(?:\|mixed:\d+)?(?:\|n:\d+)?(?:\|[a-z_]+)?(?:\|partial:[^|]*)?)",
    re.S,
)


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of a metric; ``str`` writes it, ``parse`` reads it.

    >>> signature = Signature("t", 2, "main", {"data": "0c", "model": "m|t=0", "n": "5"})
    >>> str(signature)
    't|v2|main|data:0c|model:m|t=0|n:5'
    >>> Signature.parse(str(signature)) == signature
    True
    """

    task: str
    version: int
    condition: str  # "main", or the conditions a study compares: "main~no_context"
    parts: Mapping[str, str]  # in order; without a value only the name: "majority_vote"
    extensions: tuple[str, ...] = ()  # packages that add to the task: "codis+acme"

    def __str__(self) -> str:
        """Format with bars between parts."""
        parts = [f"{name}:{value}" if value else name for name, value in self.parts.items()]
        task = "+".join((self.task, *self.extensions))
        return "|".join([task, f"v{self.version}", self.condition, *parts])

    def with_parts(self, **parts: str) -> Self:
        """Return the signature with parts appended; one that it has keeps its place."""
        return replace(self, parts={**self.parts, **parts})

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a signature.

        Parts after the model other than judge, scorer, no_answer, refused, mixed, n, one without a
        value and partial, in this order, belong to the model's own signature.

        Raises:
            TableError: If the text is not a signature.
        """
        start = _START.fullmatch(text)
        if start is None:
            raise TableError(f"not a signature: {text!r}, expected task|v1|condition|parts")
        first_parts, separator, model_and_later = start["parts"].partition("|model:")
        parts = _parse_parts(first_parts)
        model = _MODEL.fullmatch(model_and_later) if separator else None
        if model is not None:
            parts |= {"model": model["model"], **_parse_parts(model["later"])}
        task, *extensions = start["task"].split("+")
        return cls(
            task=task,
            version=int(start["version"]),
            condition=start["condition"],
            parts=parts,
            extensions=tuple(extensions),
        )


def signature_part(signature: str, name: str) -> str:
    """A part of a signature; "" if it has none of this name, or is not a signature.

    >>> signature_part("t|v1|main|data:0c|model:m|n:2|partial:2 of 4 questions", "n")
    '2'
    """
    try:
        return Signature.parse(signature).parts.get(name, "")
    except TableError:
        return ""


def partial_part(signature: str) -> str:
    """The measured part of the questions; "" if all were measured, or if unknown."""
    return signature_part(signature, "partial")


def with_partial(signature: str, part: str) -> str:
    """Mark a signature with the measured part of the questions.

    >>> with_partial("t|v1|main|model:m|n:2|partial:2 of 4 rows", "2 of 2 questions")
    't|v1|main|model:m|n:2|partial:2 of 2 questions'
    """
    return str(Signature.parse(signature).with_parts(partial=part))


def short_digest(digest: str) -> str:
    """Shorten the digest of a table to the form in signatures.

    >>> short_digest("0123456789abcdef")
    '0123456789ab'
    """
    return digest[:_DIGITS]


def _parse_parts(text: str) -> dict[str, str]:
    """Parse ``|name:value|name``; a part without a colon has the value ""."""
    split_parts = (part.partition(":") for part in text.split("|")[1:])
    return {name: value for name, _, value in split_parts}


_MODEL_MARK, _JUDGE_MARK = "model=", "judge="


class Setups(NamedTuple):
    """Setups of the model and the judge; each may have several if a table was built in parts."""

    model: set[str]
    judge: set[str]


def format_model_setup(setup: str) -> str:
    """Format the setup of a model; "" if unknown."""
    return f"{_MODEL_MARK}{setup}" if setup else ""


def format_judge_setup(name: str, setup: str) -> str:
    """Format the setup of a judge: its name and its model, if any."""
    return f"{_JUDGE_MARK}{name}:{setup}"


def join_setups(setups: Iterable[str]) -> str:
    """Join the distinct setups of several rows."""
    return "+".join(sorted({part for setup in setups for part in setup.split("+")} - {""}))


def split_setups(setup: str) -> Setups:
    """Split a joined setup."""
    parts = set(setup.split("+"))
    return Setups(
        model={part for part in parts if part.startswith(_MODEL_MARK)},
        judge={part for part in parts if part.startswith(_JUDGE_MARK)},
    )
