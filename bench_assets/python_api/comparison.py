"""``bench.compare``: compares two runs with the tests that the report and the commands use."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from bench_assets.asset_factory.asset_metadata import format_p
from bench_assets.comparison.verdicts import (
    Comparison,
    compare_scores,
    decide,
    verdict_sentence,
)
from bench_assets.core.images.charts import difference_chart
from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.task import Evaluation
from bench_assets.python_api.display import Plot, html_rows, terminal_table
from bench_assets.python_api.run import Run, check_run
from bench_assets.workspace.console.output import Cell

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS: Mapping[str, Cell] = {
    "task": lambda row: row.task,
    "metric": lambda row: row.metric,
    "category": lambda row: row.category,
    "before": lambda row: f"{row.before:.3f}",
    "after": lambda row: f"{row.after:.3f}",
    "change": lambda row: f"{row.change:+.3f}",
    "95 % interval": lambda row: row.interval,
    "p": lambda row: format_p(row.p),
    "n": lambda row: str(row.n),
    "verdict": lambda row: row.verdict,
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RunComparison:
    """Comparison of two runs: better, worse or undecided, with corrected p-values."""

    model: str
    against: str
    rows: tuple[Comparison, ...]  # over all questions of each task, then over its slices

    @property
    def sentence(self) -> str:
        """The verdict over whole tasks in one sentence."""
        return verdict_sentence([row for row in self.rows if row.category == "all"])

    @property
    def frame(self) -> "pd.DataFrame":
        """A row for each task and category, as a data frame."""
        import pandas as pd

        return pd.DataFrame([{**asdict(row), "change": row.change} for row in self.rows])

    def plot(self) -> Plot:
        """Plot each change with its 95 % interval."""
        lines = [
            (f"{row.task}: {row.category}", row.change, row.low, row.high) for row in self.rows
        ]
        return Plot(svg=difference_chart(lines, self.title), n_rows=len(lines))

    @property
    def title(self) -> str:
        """Names of both runs."""
        return f"{self.model} against {self.against}"

    def __repr__(self) -> str:
        """The sentence, then the table."""
        return f"{self.sentence}\n{terminal_table(self.title, self.rows, _COLUMNS)}"

    def _repr_html_(self) -> str:
        """The sentence and the table, for notebooks."""
        return html_rows(f"{self.title}: {self.sentence}", self.rows, _COLUMNS)


def compare(run: Run, other: Run) -> RunComparison:
    """Compare a run with another one on their common questions.

    The primary metric of each task is tested by paired tests, over all questions and over each
    category; p-values are corrected for multiple comparisons (Holm, 1979).

    >>> import bench_assets as bench
    >>> result = bench.evaluate("codis", model="random", limit=8)
    >>> bench.compare(result, result).sentence
    'undecided on 1 of 1 tasks'

    Args:
        run: The run.
        other: The run it is compared with.

    Raises:
        SettingsError: If they have no common question with the same text and answer.
    """
    for name, candidate in (("run", run), ("other", other)):
        check_run(name, candidate)
    pairs = [
        (one, base)
        for one in run.evaluations
        for base in other.evaluations
        if (base.task.name, base.condition) == (one.task.name, one.condition)
    ]
    effects = [effect for one, base in pairs for effect in _effects(one, base)]
    if not effects:
        raise SettingsError(
            f"{run.model} and {other.model}: the runs have no common question. Evaluate both on"
            " the same suites, with the same limit"
        )
    overall = decide([row for row in effects if row.category == "all"])
    return RunComparison(
        model=run.model,
        against=other.model,
        rows=(*overall, *decide([row for row in effects if row.category != "all"])),
    )


def _effects(one: Evaluation, base: Evaluation) -> Sequence[Comparison]:
    before = {question.question_id: question for question in base.questions}
    common = [
        question for question in one.questions if before.get(question.question_id) == question
    ]
    return compare_scores(one.task, common, base.scores, one.scores) if common else []
