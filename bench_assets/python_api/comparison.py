"""``bench.compare``: compares two runs with the tests that the report and the commands use."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from bench_assets.comparison.comparable import Side, compare_sides
from bench_assets.comparison.gate import FailOn, failing, junit_xml, markdown_summary
from bench_assets.comparison.verdicts import Comparison, decide, verdict_sentence
from bench_assets.core.images.charts import Change, difference_chart
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.metric_text import format_p
from bench_assets.core.schema.rows import READ_FIELDS, Question, ReadValue
from bench_assets.evaluation.pipeline import summarise
from bench_assets.evaluation.task import Evaluation
from bench_assets.python_api.calls import interface
from bench_assets.python_api.display import Plot, html_rows, terminal_table
from bench_assets.python_api.run import Run, check_run
from bench_assets.workspace.console.output import Cell

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS: Mapping[str, Cell] = {
    "task": lambda row: row.task,
    "metric": lambda row: row.metric,
    "category": lambda row: row.category,
    "before": lambda row: row.shown_values[0],
    "after": lambda row: row.shown_values[1],
    "change": lambda row: f"{row.change:+.3f}",
    "95 % interval": lambda row: row.interval,
    "p": lambda row: format_p(row.p),
    "n": lambda row: str(row.n),
    "verdict": lambda row: row.shown_verdict,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunComparison:
    """Comparison of two runs: better, worse or undecided, with corrected p-values."""

    before: str
    after: str
    rows: tuple[Comparison, ...]  # over all questions of each task, then over its slices

    @property
    def sentence(self) -> str:
        """The verdict over whole tasks in one sentence."""
        return verdict_sentence(self._overall)

    def fails(self, on: FailOn = "worse") -> bool:
        """Whether a gate fails: a task as a whole is worse or, with "undecided", not decided."""
        return bool(failing(self._overall, on))

    def junit(self, on: FailOn = "worse") -> str:
        """The verdicts over whole tasks as JUnit XML."""
        return junit_xml(self.before, self.after, self._overall, on)

    def markdown(self) -> str:
        """The verdicts over whole tasks as Markdown."""
        return markdown_summary(self.before, self.after, self._overall)

    @property
    def _overall(self) -> list[Comparison]:
        return [row for row in self.rows if row.category == "all"]

    @property
    def frame(self) -> "pd.DataFrame":
        """A row for each task and category, with the shares and bounds of both values."""
        import pandas as pd

        return pd.DataFrame(list(map(_cells, self.rows)))

    def plot(self) -> Plot:
        """Plot each change with its 95 % interval."""
        changes = [
            Change(
                label=f"{row.task}: {row.category}", value=row.change, low=row.low, high=row.high
            )
            for row in self.rows
        ]
        return Plot(svg=difference_chart(changes, self.title), n_rows=len(changes))

    @property
    def title(self) -> str:
        """Names of both runs."""
        return f"{self.after} against {self.before}"

    def __repr__(self) -> str:
        """The sentence, then the table."""
        return f"{self.sentence}\n{terminal_table(self.title, self.rows, _COLUMNS)}"

    def _repr_html_(self) -> str:
        return html_rows(f"{self.title}: {self.sentence}", self.rows, _COLUMNS)


def _cells(row: Comparison) -> dict[str, object]:
    """Cells of a row of ``frame``, with a column for each of ``READ_FIELDS`` of both sides."""
    cells = asdict(row) | {"change": row.change}
    for side in ("before", "after"):
        read_value = cells.pop(f"{side}_read") or ReadValue(cells[side])
        cells |= {f"{side}_{name}": getattr(read_value, name) for name in READ_FIELDS}
    return cells


@interface
def compare(before: Run, after: Run) -> RunComparison:
    """Compare two runs on their common questions, as ``bench tables diff BEFORE AFTER``.

    The primary metric of each task is tested by paired tests, over all questions and over each
    category; p-values are corrected for multiple comparisons (Holm, 1979).

    >>> import bench_assets as bench
    >>> result = bench.evaluate("codis", model="random", limit=8)
    >>> comparison = bench.compare(result, result)
    >>> comparison.sentence, comparison.fails("worse")
    ('undecided on 1 of 1 tasks', False)

    Args:
        before: The run that ``after`` is compared with.
        after: The run that is better or worse.

    Raises:
        SettingsError: If one is not a ``Run``, or no question is equal in both.
    """
    for name, candidate in (("before", before), ("after", after)):
        check_run(name, candidate)
    pairs = [
        (old, new)
        for new in after.evaluations
        for old in before.evaluations
        if (old.task.name, old.condition) == (new.task.name, new.condition)
    ]
    rows = [row for old, new in pairs for row in _compare_evaluations(old, new)]
    if not rows:
        raise SettingsError(
            f"{before.model} and {after.model}: the runs have no common question. Evaluate both on"
            " the same suites, with the same limit"
        )
    overall = decide([row for row in rows if row.category == "all"])
    return RunComparison(
        before=before.model,
        after=after.model,
        rows=(*overall, *decide([row for row in rows if row.category != "all"])),
    )


def _compare_evaluations(before: Evaluation, after: Evaluation) -> Sequence[Comparison]:
    """Compare two evaluations on the questions that are equal in both; [] if there are none."""
    by_id = {question.question_id: question for question in before.questions}
    common = [
        question for question in after.questions if by_id.get(question.question_id) == question
    ]
    if not common:
        return []
    return compare_sides(after.task, common, _side_on(common, before), _side_on(common, after))


def _side_on(questions: Sequence[Question], evaluation: Evaluation) -> Side:
    """Scores and metrics of an evaluation on some of its questions.

    For a true subset, metrics are computed again, so that numbers and signatures are of it.
    """
    if len(questions) == len(evaluation.questions):
        return Side(evaluation.scores, evaluation.metrics)
    ids = {question.question_id for question in questions}
    predictions = [row for row in evaluation.predictions if row.question_id in ids]
    scores = [row for row in evaluation.scores if row.question_id in ids]
    return Side(scores, summarise(evaluation.task, questions, predictions, scores))
