"""Steps of training runs, recognised by the names of models."""

import re
from collections.abc import Callable, Collection, Sequence
from hashlib import sha256
from typing import NamedTuple
from unicodedata import combining, normalize

_CHECKPOINT = re.compile(  # the run may have no name
    r"(?P<run>(?:.*/)?)(?P<step>[^/]+(?=@)|step-\d+)(?:@[0-9a-f]{8,40})?(?P<elicited>\+[a-z-]+)?"
)
COMPARED_PARTS = ("data", "prompts", "scorer", "n")
"""Parts of a signature in which two models must agree to be compared."""


_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]+")
_MAX_PART_LENGTH, _MAX_NAME_LENGTH = 80, 160  # characters; a file name may have 255 bytes
_DEFAULT_NAME = "checkpoint"


def checkpoint_name(folders: Sequence[str]) -> str:
    """Build a checkpoint's name from its folders; a valid partition key for any folder names.

    Accents are removed, and symbols become hyphens. A digest of four letters replaces letters of
    other scripts and the middle of long names. Numbers stay, because they distinguish steps.

    >>> checkpoint_name(["mein Lauf (ü)", "step-10"])
    'mein-Lauf-u/step-10'
    >>> checkpoint_name(["训练", "步骤-10"])
    'kcjm/olgp-10'
    """
    parts = [part for part in map(_safe_part, folders) if part]
    name = "/".join(parts).lstrip("._@+=-") or _DEFAULT_NAME
    if len(name) > _MAX_NAME_LENGTH:
        name = f"{parts[0]}/{_letters(name)}/{parts[-1]}"[-_MAX_NAME_LENGTH:].lstrip("._@+=/-")
    return name


def _safe_part(folder: str) -> str:
    plain = "".join(
        character for character in normalize("NFKD", folder) if not combining(character)
    )
    part = _UNSAFE.sub("-", plain).strip("-")
    if any(
        not character.isascii() and (character.isalnum() or not character.isprintable())
        for character in plain
    ):
        part = f"{_letters(folder)}-{part}".strip("-")
    if len(part) > _MAX_PART_LENGTH:
        part = f"{part[:36]}-{_letters(folder)}-{part[-36:]}"
    return part if part.strip(".") else ""


def _letters(text: str) -> str:
    """Digest of a text without its numbers, as four letters."""
    digest = sha256(re.sub(r"\d+", "", text).encode("utf-8", "surrogateescape")).hexdigest()
    return "".join(chr(ord("a") + int(digit, 16)) for digit in digest[:4])


class TrainingStep(NamedTuple):
    """A step of a training run."""

    run: str  # "" for steps outside a folder
    step: int  # the last number of its name


def parse_step(model: str) -> TrainingStep | None:
    """Parse run and step from a name; None if it is not a checkpoint with a number.

    >>> parse_step("tiny-vlm/step-0150")
    TrainingStep(run='tiny-vlm', step=150)
    >>> parse_step("run/epoch-2-step-900@0123abcd"), parse_step("gpt-5")
    (TrainingStep(run='run', step=900), None)
    >>> parse_step("run/step-5+likelihood")  # numbers of another method are of another run
    TrainingStep(run='run+likelihood', step=5)
    """
    match = _CHECKPOINT.fullmatch(model)
    numbers = re.findall(r"\d+", match["step"]) if match else []
    if match is None or not numbers:
        return None
    return TrainingStep(match["run"].rstrip("/") + (match["elicited"] or ""), int(numbers[-1]))


def is_earlier_step(other: str, model: str) -> bool:
    """Whether ``other`` is an earlier step of the run of ``model``.

    >>> is_earlier_step("r/step-900", "r/step-1000"), is_earlier_step("r/step-1", "q/step-2")
    (True, False)
    """
    a, b = _CHECKPOINT.fullmatch(other), _CHECKPOINT.fullmatch(model)
    same_run = a and b and (a["run"], a["elicited"]) == (b["run"], b["elicited"])
    return bool(same_run and step_order(other) < step_order(model))


def step_order(model: str) -> list[tuple[int, str]]:
    """Sort key of steps, by the numbers in their names: ``step-900`` is before ``step-1000``."""
    matched = _CHECKPOINT.fullmatch(model)
    parts = re.split(r"(\d+)", matched["step"] if matched else "")
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def comparison_models(
    model: str, models: Collection[str], written: Callable[[str], float], baseline: str
) -> list[str]:
    """Models that a checkpoint is compared with: its predecessor in the run, and the baseline.

    Steps are ordered by the numbers in their names. Of an overwritten step, the weights evaluated
    last count. Models of bench.toml named like ``run/step-100`` count, too; other models have no
    predecessor.

    >>> models = {"r/s-900@bbbbbbbb": 1.0, "r/s-100@cccccccc": 2.0}
    >>> comparison_models("r/s-1000@aaaaaaaa", models, models.__getitem__, "")
    ['r/s-900@bbbbbbbb']

    Args:
        model: Partition key of the model.
        models: All models with metrics.
        written: Time of writing of a model's metrics; called for overwritten steps.
        baseline: A model, or "".
    """
    earlier = [other for other in models if is_earlier_step(other, model)]
    step = max(map(step_order, earlier), default=[])
    last = [other for other in earlier if step_order(other) == step]
    before = max(last, key=written) if len(last) > 1 else "".join(last)
    others = dict.fromkeys((before, baseline if baseline in models else ""))
    return [other for other in others if other not in ("", model)]
