"""Steps of training runs, recognised by the names of models."""

import re
from collections.abc import Callable, Collection, Sequence
from hashlib import sha256
from typing import NamedTuple
from unicodedata import combining, normalize

_CHECKPOINT = re.compile(  # the run may have no name
    r"(?P<run>(?:.*/)?)(?P<step>[^/]+(?=@)|step-\d+)(?:@[0-9a-f]{8,40})?(?P<elicited>\+[a-z-]+)?"
)
_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]+")
_MAX_PART_LENGTH, _MAX_NAME_LENGTH = 80, 160  # characters; a file name may have 255 bytes
_DEFAULT_NAME = "checkpoint"


def checkpoint_name(folders: Sequence[str]) -> str:
    """Build a checkpoint's name from its folders; a valid partition key for any folder names.

    Accents are removed, and symbols become hyphens. A digest of four letters replaces letters of
    other scripts and the middle of long names. Other numbers stay, because they distinguish steps.

    >>> checkpoint_name(["mein Lauf (ü)", "step-10"])
    'mein-Lauf-u/step-10'
    >>> checkpoint_name(["训练", "步骤-10"])
    'kcjm/olgp-10'
    """
    parts = [part for part in map(_safe_part, folders) if part]
    name = "/".join(parts).lstrip("._@+=-") or _DEFAULT_NAME
    if len(name) > _MAX_NAME_LENGTH:
        digest = _letter_digest(name, cut="/".join(parts[1:-1]))
        shortened = f"{parts[0]}/{digest}/{parts[-1]}"
        name = shortened[-_MAX_NAME_LENGTH:].lstrip("._@+=/-")
    return name


def _safe_part(folder: str) -> str:
    """Build the part of a checkpoint's name for one folder; "" if nothing of it can be kept."""
    decomposed = normalize("NFKD", folder)
    unaccented = "".join(character for character in decomposed if not combining(character))
    part = _UNSAFE.sub("-", unaccented).strip("-")
    has_lost_letters = any(
        not character.isascii() and (character.isalnum() or not character.isprintable())
        for character in unaccented
    )
    if has_lost_letters:
        part = f"{_letter_digest(folder)}-{part}".strip("-")
    if len(part) > _MAX_PART_LENGTH:
        digest = _letter_digest(folder, cut=part[36:-36])
        part = f"{part[:36]}-{digest}-{part[-36:]}"  # 78 characters
    return part if part.strip(".") else ""


def _letter_digest(text: str, cut: str = "") -> str:
    """Digest of a text, of its numbers only those in the part that is cut, as four letters."""
    hashed = re.sub(r"\d+", "", text) + " ".join(re.findall(r"\d+", cut))
    digest = sha256(hashed.encode("utf-8", "surrogateescape")).hexdigest()
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


def is_earlier_step(candidate: str, model: str) -> bool:
    """Whether ``candidate`` is an earlier step of the run of ``model``.

    >>> is_earlier_step("r/step-900", "r/step-1000"), is_earlier_step("r/step-1", "q/step-2")
    (True, False)
    """
    candidate_match, match = _CHECKPOINT.fullmatch(candidate), _CHECKPOINT.fullmatch(model)
    if candidate_match is None or match is None:
        return False
    is_same_run = candidate_match.group("run", "elicited") == match.group("run", "elicited")
    return is_same_run and step_order(candidate) < step_order(model)


def step_order(model: str) -> list[tuple[int, str]]:
    """Sort key of steps, by the numbers in their names: ``step-900`` is before ``step-1000``."""
    match = _CHECKPOINT.fullmatch(model)
    parts = re.split(r"(\d+)", match["step"] if match else "")
    return [(int(part), "") if part.isdigit() else (-1, part) for part in parts]


def comparison_models(
    model: str, models: Collection[str], write_time: Callable[[str], float], baseline: str
) -> list[str]:
    """Models that a checkpoint is compared with: its predecessor in the run, and the baseline.

    Steps are ordered by the numbers in their names. If a step was overwritten, the weights that
    were evaluated last are its model. Models of bench.toml named like ``run/step-100`` count, too;
    other models have no predecessor.

    >>> models = {"r/s-900@bbbbbbbb": 1.0, "r/s-100@cccccccc": 2.0}
    >>> comparison_models("r/s-1000@aaaaaaaa", models, models.__getitem__, "")
    ['r/s-900@bbbbbbbb']

    Args:
        model: Partition key of the model.
        models: All models with metrics.
        write_time: Time of writing of a model's metrics; called for overwritten steps.
        baseline: A model, or "".
    """
    earlier = [name for name in models if is_earlier_step(name, model)]
    last_step = max(map(step_order, earlier), default=[])
    compared = [name for name in earlier if step_order(name) == last_step]
    if len(compared) > 1:
        compared = [max(compared, key=write_time)]
    if baseline in models:
        compared.append(baseline)
    return [name for name in dict.fromkeys(compared) if name not in ("", model)]
