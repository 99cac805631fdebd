"""Judges with measured agreement: with people, or in a suite's own comparison of judges."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from bench_assets.annotation.responses.verdicts import PEOPLE as PEOPLE_JUDGE
from bench_assets.core.judging.second_look import is_reader
from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.signature import Signature
from bench_assets.core.stats.rater_agreement import Kappa
from bench_assets.evaluation.measured_figures import PEOPLE, JudgeFigure
from bench_assets.evaluation.readers import NULL_RESPONSES
from bench_assets.evaluation.task import RULES, ByRules, Task
from bench_resources.tables.measured_figures import figures_from_annotation, read_figures
from bench_resources.tables.parquet import TableFiles

_AGREEMENT = "judge_agreement"
"""Table of a suite's own comparison of judges, one partition per model, as in CODIS."""

_EXEMPT_JUDGES = (
    "",
    "none",
    RULES,
    PEOPLE_JUDGE,
    "recorded",
)  # not configured models: nothing to measure


def judges_with_agreement(tables: TableFiles, tasks: Sequence[Task]) -> set[tuple[str, str]]:
    """(Task, judge) pairs with measured agreement in this home, and all judges that are rules.

    Rules need no measurement: they are deterministic.
    """
    return {
        *((one.task, one.judge) for one in _figures(tables, tasks)),
        *_compared(tables, tasks),
        *_rules(tasks),
    }


def agreements(tables: TableFiles, tasks: Sequence[Task]) -> dict[tuple[str, str], str]:
    """Latest agreement of each judge with people, and null test of each reader, by task."""
    return {
        (one.task, one.judge): f"{one.judge} and people:"
        f" {Kappa(one.value, one.low, one.high, one.n)}"
        for one in _figures(tables, tasks)
    } | null_tests(_stored(tables))


def null_tests(figures: Iterable[JudgeFigure]) -> dict[tuple[str, str], str]:
    """Latest null test of each reader, by task and reader."""
    latest = {(one.task, one.judge, one.figure): one for one in figures}
    found: dict[tuple[str, str], str] = {}
    for (task, reader, figure), one in latest.items():
        if what := NULL_RESPONSES.get(figure):
            before = found.get((task, reader), f"{reader} finds no answer in")
            comma = "," if (task, reader) in found else ""
            found[task, reader] = f"{before}{comma} {round(one.value * one.n)} of {one.n} {what}"
    return found


def agreement_of(task: str, signature: str, known: Mapping[tuple[str, str], str]) -> str:
    """Agreement of a number's judges with people, and tests of its reader; "" if not measured.

    >>> agreement_of("t", "t|v1|main|judge:gpt+rules|n:5", {("t", "gpt"): "gpt and people: 0.81"})
    'gpt and people: 0.81'
    """
    figures = (known.get((task, judge), "") for judge in _judges(signature))
    return "; ".join(filter(None, figures))


def unmeasured_judges(task: str, signature: str, measured: Collection[tuple[str, str]]) -> str:
    """Names of a number's judges whose agreement was never measured; "" if none.

    >>> unmeasured_judges("t", "t|v1|main|data:0c|model:m|judge:gpt|scorer:strict|n:5", set())
    'gpt'
    >>> unmeasured_judges("t", "t|v1|main|data:0c|model:m|judge:rules|n:5", set())
    ''
    """
    unknown = [one for one in _judges(signature) if (task, one) not in measured]
    return "+".join(one for one in unknown if one not in _EXEMPT_JUDGES and not is_reader(one))


def _judges(signature: str) -> list[str]:
    try:
        return Signature.parse(signature).parts.get("judge", "").split("+")
    except TableError:
        return []


def _figures(tables: TableFiles, tasks: Sequence[Task]) -> list[JudgeFigure]:
    """Agreement with people, latest last: stored ones and those of present labels."""
    found = [*_stored(tables), *figures_from_annotation(tables, tasks)]
    return [one for one in found if one.figure == PEOPLE]


def _stored(tables: TableFiles) -> list[JudgeFigure]:
    try:
        return read_figures(tables.home, JudgeFigure)
    except BenchError:  # damaged file: reported by the command that reads it
        return []


def _rules(tasks: Iterable[Task]) -> Iterator[tuple[str, str]]:
    for task in tasks:
        for name, judge in task.judges.items():
            if isinstance(judge, ByRules) and name not in _EXEMPT_JUDGES:
                yield task.name, name


def _compared(tables: TableFiles, tasks: Iterable[Task]) -> Iterator[tuple[str, str]]:
    for task in tasks:
        key = [*task.name.split("/"), _AGREEMENT]
        for model in tables.partitions(key) if task.is_judged else ():
            try:
                rows = tables.read(key, Metric, model)
            except TableError:
                continue
            for row in rows:
                judges = Signature.parse(row.signature).parts.get("judges", "")
                yield task.name, judges.partition("~")[0]
