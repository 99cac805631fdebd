"""The table: what was measured, what bound it has, and what was not run and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HEADER = (
    *("model", "tokens a response", "engine", "samples/s", "tokens/s", "GPU busy"),
    *("first token", "memory", "bound", ""),
)
VLLM_OF_VLLM = 0.95  # least share of what vLLM does alone
BUSY = 0.90  # least share of the time that a kernel runs
TWO_OF_ONE = 1.9  # least of two devices, in those of one

_OURS, _ALONE, _TRANSFORMERS = "vllm", "vLLM alone", "transformers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One measurement."""

    samples: int
    tokens: int
    seconds: float
    first_token: float | None  # s, of one question alone
    busy: float | None = None  # share of the time
    memory: float | None = None  # MiB

    @property
    def samples_a_second(self) -> float:
        """Questions that were answered in a second."""
        return self.samples / self.seconds

    @property
    def tokens_a_second(self) -> float:
        """Tokens of responses in a second."""
        return self.tokens / self.seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line: a run, or why there is none."""

    model: str
    max_tokens: int
    engine: str
    setting: str = ""  # "compile", "2 devices", ...
    run: Run | None = None
    why_not: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a run is held to."""

    what: str
    value: float
    least: float

    @property
    def holds(self) -> bool:
        """Whether it is kept."""
        return self.value >= self.least


def bound_of(row: Row, rows: Sequence[Row]) -> Bound | None:
    """Find what a row is held to; None if nothing, or if what it is compared with was not run."""
    if row.run is None:
        return None
    if row.engine == _OURS and (alone := _beside(row, rows, _ALONE)):
        share = row.run.samples_a_second / alone.samples_a_second
        return Bound(what="of vLLM alone", value=share, least=VLLM_OF_VLLM)
    if row.setting == "2 devices" and (one := _beside(row, rows, _TRANSFORMERS)):
        times = row.run.samples_a_second / one.samples_a_second
        return Bound(what="times one device", value=times, least=TWO_OF_ONE)
    if row.engine == _TRANSFORMERS and not row.setting and row.run.busy is not None:
        return Bound(what="GPU busy", value=row.run.busy, least=BUSY)
    return None


def lines(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    """Write rows as the cells of ``HEADER``."""
    for row in rows:
        engine = f"{row.engine}, {row.setting}" if row.setting else row.engine
        begins = (row.model, str(row.max_tokens), engine)
        if row.run is None:
            yield (*begins, f"not run: {row.why_not}", *[""] * (len(HEADER) - 4))
            continue
        bound = bound_of(row, rows)
        yield (
            *begins,
            f"{row.run.samples_a_second:.2f}",
            f"{row.run.tokens_a_second:.0f}",
            "?" if row.run.busy is None else f"{row.run.busy:.0%}",
            "?" if row.run.first_token is None else f"{row.run.first_token * 1e3:.0f} ms",
            "?" if row.run.memory is None else f"{row.run.memory / 1024:.1f} GiB",
            f"{bound.value:.2f} {bound.what} (>= {bound.least:g})" if bound else "",
            "MISSED" if bound and not bound.holds else "",
        )


def as_markdown(rows: Sequence[Row]) -> str:
    """Write the table for a page of the documentation."""
    cells = [HEADER, ("---",) * len(HEADER), *lines(rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def _beside(row: Row, rows: Sequence[Row], engine: str) -> Run | None:
    """The run of another engine without settings, of the same model and length."""
    for other in rows:
        same = (other.model, other.max_tokens) == (row.model, row.max_tokens)
        if same and other.engine == engine and not other.setting:
            return other.run
    return None
