"""Spells a signature out: each part, what it says, and what that means."""

from typing import NamedTuple

from bench_assets.comparison.causes import DECODING, MODEL, who_and_how
from bench_assets.core.schema.signature import Signature
from bench_assets.evaluation.task import Task

_MEANINGS = {
    "data": "Digest of the questions, with their answers and images: others are another exam.",
    "prompts": "Digest of all prompts as they were sent, in any order.",
    "judge": "Who said whether responses are right, where points need a verdict.",
    "n": "Questions that there are, scored or not.",
    "no_answer": "Questions cut off before an answer: they count as wrong.",
}
_DECODING = {
    "t": "temperature {}",
    "max": "at most {} tokens",
    "top_p": "from the likeliest tokens that make up {} of the probability",
    "top_k": "from the {} likeliest tokens",
    "seed": "seed {}",
    "card": "as the checkpoint's own generation_config.json recommends",
}


class SignaturePart(NamedTuple):
    """One part of a signature."""

    name: str
    value: str
    meaning: str


def in_words(signature: Signature, task: Task) -> list[SignaturePart]:
    """Spell a signature out, in its own order; what it has beyond that stands as it is."""
    asked, drawn = who_and_how(signature.parts.get("model", ""))
    condition = task.conditions.get(signature.condition)
    parts = [
        SignaturePart("task", "+".join((task.title, *signature.extensions)), _extended(signature)),
        SignaturePart(
            "version", str(signature.version), "Raised when scores may no longer be compared."
        ),
        SignaturePart("condition", signature.condition, condition.about if condition else ""),
    ]
    for name, value in signature.parts.items():
        if name == "model":
            parts.append(SignaturePart(MODEL, asked, _who(asked)))
            parts += [SignaturePart(DECODING, drawn, _how(drawn))] if drawn else []
        elif name == "reading":
            parts.append(SignaturePart(name, value, first_line(task.readings.get(value))))
        else:
            parts.append(SignaturePart(name, value, _MEANINGS.get(name, "")))
    return parts


def first_line(function: object) -> str:
    """What a reading, a measure or a judge says of itself; "" if nothing.

    >>> first_line(sorted)
    'Return a new list containing all items from the iterable in ascending order.'
    """
    said = (getattr(function, "__doc__", None) or "").strip()
    is_ours = callable(function) and not isinstance(function, type)
    return str(said.splitlines()[0]) if said and is_ours else ""


def _extended(signature: Signature) -> str:
    if not signature.extensions:
        return "As it comes, without packages that add to it."
    return f"With what {', '.join(signature.extensions)} adds to it."


def _who(asked: str) -> str:
    if asked.startswith("sha256:"):
        return "Digest of the weights, then the numbers they are in and what prepares images."
    return "Who was asked: its kind, its name, its settings."


def _how(drawn: str) -> str:
    """Say how responses were drawn.

    >>> _how("t=0,max=40")
    'The likeliest token each time (temperature 0), at most 40 tokens.'
    """
    said = []
    for entry in drawn.split("|", maxsplit=1)[0].split(","):
        name, _, value = entry.partition("=")
        if (name, value) == ("t", "0"):
            said.append("the likeliest token each time (temperature 0)")
        else:
            said.append(_DECODING.get(name, entry).format(value))
    sentence = ", ".join(said)
    return f"{sentence[:1].upper()}{sentence[1:]}."
