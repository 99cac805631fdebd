"""``bench.audit``: audits of a suite, or of results."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.operations import audit_tasks
from bench_assets.audit.registry import audit_task
from bench_assets.audit.task_evidence import TaskEvidence
from bench_assets.core.schema.errors import SettingsError
from bench_assets.python_api.calls import interface
from bench_assets.python_api.display import html_rows, terminal_table
from bench_assets.python_api.run import Run, check_run
from bench_assets.workspace.console.output import Cell
from bench_assets.workspace.evaluate.stored_evaluation import store_evaluation
from bench_assets.workspace.materialization.opening import open_workbench
from bench_resources.tables.parquet import TableFiles

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS: Mapping[str, Cell] = {
    "task": lambda row: row.task,
    "check": lambda row: row.check,
    "passed": lambda row: "yes" if row.passed else "NO",
    "what was found": lambda row: row.sentence,
}


@dataclass(frozen=True, slots=True, repr=False)
class AuditTable(Sequence[AuditRow]):
    """Results of an audit, one row per check."""

    rows: tuple[AuditRow, ...]

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401
        """Return a row, or a tuple of rows for a slice."""
        return self.rows[index]

    def __len__(self) -> int:
        """Number of checks."""
        return len(self.rows)

    @property
    def failed(self) -> list[AuditRow]:
        """The checks that did not pass."""
        return [row for row in self.rows if not row.passed]

    @property
    def frame(self) -> "pd.DataFrame":
        """The results as a data frame, one row per check."""
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows])

    def __repr__(self) -> str:
        """Format as a table, failed checks first."""
        table = terminal_table(self._title, self._displayed_rows, _COLUMNS)
        return f"{table}\n{self._skipped_note}"

    def _repr_html_(self) -> str:
        """Format as HTML for notebooks, failed checks first."""
        table = html_rows(self._title, self._displayed_rows, _COLUMNS)
        return f"{table}<p>{escape(self._skipped_note)}</p>"

    @property
    def _title(self) -> str:
        return f"{len(self.failed)} of {len(self.rows)} checks failed"

    @property
    def _displayed_rows(self) -> list[AuditRow]:
        """Rows without those of checks that do not apply, failed ones first."""
        displayed = [row for row in self.rows if not (row.passed and row.skipped)]
        return sorted(displayed, key=lambda row: row.passed)

    @property
    def _skipped_note(self) -> str:
        names = dict.fromkeys(row.check for row in self.rows if row.passed and row.skipped)
        return f"Do not apply (reasons in .frame): {', '.join(names)}" if names else ""


@interface
def audit(results: "str | Run | Sequence[Run]") -> AuditTable:
    """Audit a suite of the home, or the results of runs: keys, questions, images, shortcuts, judge.

    >>> import bench_assets as bench
    >>> table = audit(bench.evaluate("codis", model="random", limit=8))
    >>> table.frame[table.frame.check == "repeated_questions"].passed.tolist()
    [True]

    Args:
        results: Name of a suite or task, as for ``bench audit run``; or one or several runs.
            Three or more models on a task also show which keys may be wrong.

    Raises:
        BenchError: If there is no such suite, a task of it cannot be audited, or no run under the
            condition main is given.
    """
    if isinstance(results, str):
        with open_workbench() as bench:
            rows, failures = audit_tasks(bench, [results])
        if failures:
            raise failures[0]
        return AuditTable(tuple(rows))
    candidates = results if isinstance(results, Sequence) else [results]
    runs = [check_run("results", candidate) for candidate in candidates]
    if not runs:
        raise SettingsError("results: expected a suite's name or runs, got an empty list")
    with tempfile.TemporaryDirectory() as folder:
        return AuditTable(tuple(_audit_runs(runs, TableFiles(folder=folder))))


def _audit_runs(runs: Sequence[Run], tables: TableFiles) -> list[AuditRow]:
    """Store the evaluations, and audit the tasks evaluated under the condition main."""
    evidence: dict[str, TaskEvidence] = {}
    for run in runs:
        for evaluation in run.evaluations:
            store_evaluation(tables, evaluation)
            if evaluation.condition == "main":
                evidence[evaluation.task.name] = TaskEvidence(
                    task=evaluation.task, tables=tables, image_store=run.image_store
                )
    if not evidence:
        raise SettingsError("results: no run has the condition main. Evaluate a model under it")
    return [row for task_evidence in evidence.values() for row in audit_task(task_evidence)]
