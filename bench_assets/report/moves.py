"""Why a score moved from one checkpoint to the next: what ``bench diff`` says, for ``#/compare``.

Other pairs than neighbours of a run are too many to be made before somebody asks: there the page
names the command.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise

from bench_assets.catalog import Catalog
from bench_assets.core.errors import TableError
from bench_assets.core.rows import Question
from bench_assets.core.training_runs import step_of
from bench_assets.evaluation import evaluation_key, questions_key
from bench_assets.report.difference import difference
from bench_assets.report.sides import Place
from bench_assets.report.site import Site
from bench_assets.report.slugs import slug
from bench_assets.report.stamps import made_of, stamp
from bench_assets.task import Task
from resources.home.tables import TableFiles

_FORM = "1"  # of the data: raised when what the page reads changes
_MOST = 5_000  # questions of a task: more take seconds a pair, and `bench diff` is there
_IN_ALL = 20_000  # questions of all pairs of a run: of a long one on many, the last pairs
_TABLES = ("predictions", "judgements", "scores", "metrics")
_COUNT = "SELECT count(*) AS n FROM questions"


class Moves:
    """One part of the report: ``moved-<task>-<model>``, against the checkpoint before it."""

    def write(self, site: Site, tables: TableFiles, catalog: Catalog) -> None:
        """Write the causes of every move; where a table cannot be read, there are none."""
        for task in catalog.tasks:
            runs = list(neighbours(tables.partitions(evaluation_key(task, "main", "metrics"))))
            n = _asked(tables, task) if runs else 0
            for pairs in runs if 0 < n <= _MOST else ():
                for before, after in pairs[-(_IN_ALL // n) :]:
                    _write(site, tables, task, before, after)


def neighbours(models: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    """Of every run, each checkpoint with the one that follows it.

    >>> list(neighbours(["r/step-900", "r/step-1000", "other", "s/step-1", "r/step-100"]))
    [[('r/step-100', 'r/step-900'), ('r/step-900', 'r/step-1000')]]
    """
    steps = [(step, model) for model in models if (step := step_of(model))]
    for run in sorted({step.run for step, _ in steps}):
        ordered = sorted((step.step, model) for step, model in steps if step.run == run)
        if pairs := list(pairwise(model for _, model in ordered)):
            yield pairs


def _asked(tables: TableFiles, task: Task) -> int:
    try:
        found = tables.query(_COUNT, {"questions": ([questions_key(task, "main")], Question)})
    except TableError:
        return 0
    return int(found.to_pylist()[0]["n"])


def _write(site: Site, tables: TableFiles, task: Task, before: str, after: str) -> None:
    keys = [evaluation_key(task, "main", name) for name in _TABLES]
    files = [tables.path(key, model) for key in keys for model in (before, after)]
    files.append(tables.path(questions_key(task, "main")))
    inputs = made_of(_FORM, str(task.version), task.primary_metric, *map(stamp, files))
    name = f"moved-{slug(task.name)}-{slug(after)}"
    if site.has(name, inputs):
        return
    try:
        old, new = (Place(tables, task, "main", model).read() for model in (before, after))
    except TableError:
        return
    causes = [asdict(cause) for cause in difference(task, old, new)]
    site.put(name, {"before": before, "causes": causes}, inputs)
