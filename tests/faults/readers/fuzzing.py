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
from tests.faults.table import Fault, FindingError, Trial

READERS: list[Reader] = [*TEXTS, *FILES, *RAW_DATA, *ANSWERS]
FEW = 6  # inputs for each reader in make check
MANY = 150  # inputs for each reader in make faults
_REPLIES_WITHOUT_VERDICT: list[str] = read_rows(__file__, "no_verdicts.jsonl")


def faults() -> list[Fault]:
    """Each reader with a few inputs and with many, and every judge without a verdict."""
    return [
        *(_fuzzing_fault("readers", reader, FEW, short=reader.short) for reader in READERS),
        *(_fuzzing_fault("readers, at length", reader, MANY, short=False) for reader in READERS),
        *(_judging_fault(reply) for reply in _REPLIES_WITHOUT_VERDICT),
    ]


def _fuzzing_fault(group: str, reader: Reader, n_inputs: int, *, short: bool) -> Fault:
    return Fault(
        group=group,
        name=reader.name,
        cause=f"{n_inputs} inputs, drawn by hypothesis: {reader.kind}",
        expected="an answer or a BenchError",
        attempt=lambda trial: fuzz(reader, trial, n_inputs),
        short=short,
        is_random=True,
    )


def fuzz(reader: Reader, trial: Trial, n_inputs: int) -> str:
    """Read drawn inputs; any other error than a ``BenchError`` is raised for a small input."""
    n_refused = 0

    @hypothesis.seed(trial.rng.getrandbits(64))
    @settings(
        max_examples=n_inputs,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(data=inputs(reader))
    def read_input(data: bytes) -> None:
        nonlocal n_refused
        with tempfile.TemporaryDirectory(dir=trial.folder) as folder:
            try:
                reader.read(data, Path(folder))
            except BenchError as error:
                n_refused += 1
                str(error).encode("utf-8", "backslashreplace")

    read_input()
    return "answers and refusals" if n_refused else "answers"


def _judging_fault(reply: str) -> Fault:
    return Fault(
        group="judges",
        name=repr(reply),
        cause="every judge of every task says it",
        expected="no verdict: unscored, and never a guess",
        attempt=lambda _: _require_no_verdict(reply),
        short=False,
    )


def _require_no_verdict(reply: str) -> str:
    judges = answers.judges()
    guesses = []
    for task, questions, judge in judges:
        verdicts = answers.verdicts_for(task, questions, judge, reply)
        if set(verdicts) != {None}:
            guesses.append(f"{task.name} ({judge}): {verdicts}")
    if guesses:
        raise FindingError("; ".join(guesses))
    return f"no verdict by any of {len(judges)} judges"
