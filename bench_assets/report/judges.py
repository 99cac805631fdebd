"""Which judges' agreement was measured: with people, or with a second judge on the same replies."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from bench_assets.core.errors import BenchError, TableError
from bench_assets.core.rows import Metric
from bench_assets.core.signature import Signature
from bench_assets.soundness.judge_figures import PEOPLE, SECOND
from bench_assets.task import RULES, Task
from resources.home.judge_figures import read_figures
from resources.home.tables import TableFiles

_AGREEMENT = "judge_agreement"
"""Table in which a suite compares its judges itself, a model at a time, as CODIS does."""

_KNOWN = ("", "none", RULES, "recorded")  # no model of ours: nobody could ask it again


def measured_judges(tables: TableFiles, tasks: Iterable[Task]) -> set[tuple[str, str]]:
    """Name the tasks and judges whose agreement is known in this home."""
    return {*_checked(Path(tables.folder).parent), *_compared(tables, tasks)}


def unmeasured_judge(task: str, signature: str, measured: Collection[tuple[str, str]]) -> str:
    """Name the judges behind a number whose agreement was never measured; "" if there is none.

    >>> unmeasured_judge("t", "t|v1|main|data:0c|model:m|judge:gpt|reading:strict|n:5", set())
    'gpt'
    >>> unmeasured_judge("t", "t|v1|main|data:0c|model:m|judge:rules|n:5", set())
    ''
    """
    try:
        judges = Signature.parse(signature).parts.get("judge", "").split("+")
    except TableError:
        return ""
    return "+".join(one for one in judges if one not in _KNOWN and (task, one) not in measured)


def _checked(home: Path) -> Iterator[tuple[str, str]]:
    try:
        figures = read_figures(home)
    except BenchError:  # a damaged file: its command says so; here nothing is known
        return
    yield from ((one.task, one.judge) for one in figures if one.figure in (PEOPLE, SECOND))


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
