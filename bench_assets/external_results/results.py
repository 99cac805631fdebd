"""Rows of other harnesses' results, before they become questions, predictions and scores."""

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite, nan
from string import ascii_uppercase
from typing import Any

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import AnswerKind
from bench_assets.evaluation.suite import MAX_NAME_LENGTH, name_defects

UNPACKING_ERRORS = (
    *(OSError, ValueError, RuntimeError, EOFError),  # RuntimeError: encrypted
    *(zipfile.BadZipFile, zlib.error),
)
"""What a damaged archive raises."""

_MAX_BYTES = 2**30  # bytes of an unpacked archive member, at most


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalSample:
    """One response to one sample, with the points that the harness gave."""

    sample_id: str
    draw: int = 0  # epoch of the sample, from 0
    prompt: str
    images: tuple[bytes, ...] = ()
    options: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    category: str = ""
    response: str = ""
    answer: str = ""  # as parsed by the harness
    points: float | None = None  # None: the harness stored no score
    explanation: str = ""  # of the scorer
    error: str = ""  # why there is no response

    @property
    def kind(self) -> AnswerKind:
        """A choice if the target is letters of options, else a text."""
        letters = ascii_uppercase[: len(self.options)]
        if not self.options or not set(self.target) <= set(letters):
            return "text"
        return "choice" if len(self.target) == 1 else "choices"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalMetric:
    """One number as reported by the harness."""

    name: str
    value: float
    category: str = "all"
    lower_is_better: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalResults:
    """Results of one model on one task."""

    harness: str  # such as "Inspect AI"
    version: str = ""  # of the harness; "": not known
    task: str  # as the harness names it
    model: str
    metrics: tuple[ExternalMetric, ...]  # the first is the headline
    samples: tuple[ExternalSample, ...]
    partial: str = ""  # why samples are missing; "": none are known to be missing

    @property
    def measured_by(self) -> str:
        """The harness with its version."""
        return f"{self.harness} {self.version}".strip()

    @property
    def suite(self) -> str:
        """Default name of the suite that stores the results; a digest ends an unfit one.

        >>> ExternalResults(
        ...     harness="lmms-eval", task="MMMU (val)", model="m", metrics=(), samples=()
        ... ).suite
        'lmms_eval_mmmu_val'
        """
        name = re.sub(r"[^a-z0-9]+", "_", f"{self.harness} {self.task}".lower()).strip("_")
        if not name_defects(name):
            return name
        end = f"_{sha256(name.encode()).hexdigest()[:8]}"
        return f"{name[: MAX_NAME_LENGTH - len(end)]}{end}"


@contextmanager
def shape_errors(where: str, harness: str) -> Iterator[None]:
    """Turn the errors of an entry with an unexpected shape into one that says where it is.

    Raises:
        SourceError: If the entry does not have the shape that the harness gives it.
    """
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        message = f"{type(error).__name__}: {error}"
        raise SourceError(f"{where}: not as {harness} writes it ({message})") from error


def unique_samples(samples: Iterable[tuple[str, ExternalSample]]) -> tuple[ExternalSample, ...]:
    """Samples without their locations.

    Raises:
        SourceError: If two have the same id and draw.
    """
    locations: dict[tuple[str, int], str] = {}
    unique = []
    for where, sample in samples:
        key = sample.sample_id, sample.draw
        if key in locations:
            raise SourceError(
                f"{where}: id {sample.sample_id!r} is also in {locations[key]}; keep one"
            )
        locations[key] = where
        unique.append(sample)
    return tuple(unique)


def member_of(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a member of a zip archive of bounded size.

    Raises:
        BadZipFile: If it is damaged, or too large.
        KeyError: If there is no such member.
    """
    require_bounded(archive.getinfo(name))
    return archive.read(name)


def require_bounded(member: zipfile.ZipInfo) -> None:
    """Raise ``BadZipFile`` for a member that would be too large unpacked."""
    if member.file_size > _MAX_BYTES:
        raise zipfile.BadZipFile(f"{member.file_size} bytes, more than the {_MAX_BYTES} allowed")


def mean_of_points(name: str, samples: Sequence[ExternalSample]) -> list[ExternalMetric]:
    """Mean of the points, a headline where the harness wrote none; [] if no sample is scored."""
    points = [sample.points for sample in samples if sample.points is not None]
    return [ExternalMetric(name=name, value=sum(points) / len(points))] if points else []


_CACHED = re.compile(r".*[/\\]models--(?P<name>[^/\\]+)[/\\]snapshots[/\\].*")


def to_model_name(name: str) -> str:
    """Name of a model, which may be given as its folder in the hub's cache.

    >>> [to_model_name(name) for name in ("/hub/models--Org--Seer/snapshots/e7b6", "Org/Seer")]
    ['Org/Seer', 'Org/Seer']
    """
    cached = _CACHED.fullmatch(name)
    return cached["name"].replace("--", "/", 1) if cached else name


def to_number(value: object) -> float | None:
    """Convert a JSON value to a number; None if it is not one, or is not finite.

    >>> [to_number(value) for value in (True, "0.5", "N/A", None, "NaN", "inf")]
    [1.0, 0.5, None, None, None, None]
    """
    try:
        number = float(value) if isinstance(value, bool | int | float | str) else nan
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def to_text(value: object) -> str:
    """Convert a JSON value to text: lists are joined, null becomes "".

    >>> to_text(["a", 1]), to_text(None)
    ('a | 1', '')
    """
    if value is None:
        return ""
    return " | ".join(map(to_text, value)) if isinstance(value, list) else str(value)


def category_of(metadata: Mapping[str, Any]) -> str:
    """Category of a sample: the first of the usual keys in its metadata; "" without any."""
    for name in ("category", "subject", "sub_task", "type", "level"):
        if value := metadata.get(name):
            return to_text(value)
    return ""
