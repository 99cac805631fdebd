"""Faults of readers: drawn inputs, and verdicts that are none."""

import tempfile
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from bench_assets.core.schema.errors import BenchError
from tests.cases import read_rows
from tests.faults.readers import answers
from tests.faults.readers.answers import ANSWERS
from tests.faults.readers.files import FILES
from tests.faults.readers.hostile import inputs
from tests.faults.readers.raw_data import RAW_DATA
from tests.faults.readers.reader import Reader
from tests.faults.readers.texts import TEXTS
from tests.faults.table import Fault, FoundError, Trial

READERS: list[Reader] = [*TEXTS, *FILES, *RAW_DATA, *ANSWERS]
FEW = 6
"""Inputs that make check draws for each reader."""
MANY = 150
_NO_VERDICTS: list[str] = read_rows(__file__, "no_verdicts.jsonl")


def faults() -> list[Fault]:
    """Each reader with a few inputs and with many, and every judge with no verdicts."""
    return [
        *(_fuzzed("readers", reader, FEW, short=reader.short) for reader in READERS),
        *(_fuzzed("readers, at length", reader, MANY, short=False) for reader in READERS),
        *(_unread(verdict) for verdict in _NO_VERDICTS),
    ]


def _fuzzed(group: str, reader: Reader, n: int, *, short: bool) -> Fault:
    return Fault(
        group=group,
        name=reader.name,
        made=f"{n} inputs, drawn by hypothesis: {reader.kind}",
        must="an answer or a BenchError",
        attempt=lambda trial: fuzz(reader, trial, n),
        short=short,
        drawn=True,
    )


def fuzz(reader: Reader, trial: Trial, n: int) -> str:
    """Read drawn inputs; anything but an answer or a ``BenchError`` is raised, made small."""
    refused = 0

    @hypothesis.seed(trial.rng.getrandbits(64))
    @settings(
        max_examples=n,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(data=inputs(reader))
    def only_ours(data: bytes) -> None:
        nonlocal refused
        with tempfile.TemporaryDirectory(dir=trial.folder) as folder:
            try:
                reader.read(data, Path(folder))
            except BenchError as error:
                refused += 1
                str(error).encode("utf-8", "backslashreplace")

    only_ours()
    return "answers and refusals" if refused else "answers"


def _unread(verdict: str) -> Fault:
    return Fault(
        group="judges",
        name=repr(verdict),
        made="every judge of every task says it",
        must="no verdict: unscored, and never a guess",
        attempt=lambda _: _judged(verdict),
        short=False,
    )


def _judged(verdict: str) -> str:
    judges = answers.judges()
    guessed = []
    for task, questions, name in judges:
        verdicts = answers.judged_as(task, questions, name, verdict)
        if set(verdicts) != {None}:
            guessed.append(f"{task.name} ({name}): {verdicts}")
    if guessed:
        raise FoundError("; ".join(guessed))
    return f"no verdict by any of {len(judges)} judges"
