"""``Run``: metrics and samples of one evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from bench_assets.comparison.results import Result
from bench_assets.core.images.charts import Bar, bar_chart, scale
from bench_assets.core.schema.errors import SettingsError, UnknownNameError
from bench_assets.core.schema.rows import IMPORTED, Metric
from bench_assets.evaluation.baselines.blind_baselines import chance_level
from bench_assets.evaluation.task import Evaluation
from bench_assets.python_api import arguments, display, samples
from bench_assets.python_api.calls import interface
from bench_assets.python_api.display import Plot
from bench_resources.images.store import ImageStore

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, repr=False)
class Run:
    """One model evaluated on one or several tasks.

    Displayed as the primary number of each task, with what it is compared with; in a notebook,
    with interval bars.

    Attributes:
        model: Name of the model.
        evaluations: Questions, responses, scores and metrics of each task.
        failures: Errors of the tasks that were left out.
        results: The short form of the metrics, which is displayed.
    """

    model: str
    evaluations: tuple[Evaluation, ...]
    failures: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()
    image_store: ImageStore = field(compare=False)

    @property
    def partial(self) -> str:
        """Number of evaluated questions, such as "4 of 80 questions"; "" if all were evaluated.

        >>> import bench_assets as bench
        >>> bench.evaluate("codis", model="random", limit=6).partial
        '6 of 80 questions'
        """
        return "; ".join(
            dict.fromkeys(
                evaluation.partial for evaluation in self.evaluations if evaluation.partial
            )
        )

    @cached_property
    def metrics(self) -> "pd.DataFrame":
        """A row for each metric and category, with the 95 % interval and the blind baselines.

        >>> import bench_assets as bench
        >>> result = bench.evaluate("codis", model="random", limit=4)
        >>> list(result.metrics.columns[:6])
        ['task', 'condition', 'metric', 'category', 'value', 'low']
        """
        return samples.metrics_frame(self.rows)

    @cached_property
    def samples(self) -> "pd.DataFrame":
        """A row for each response: images, prompt, response, answer, expected, score, why.

        ``answer`` is what was read of the response, None if nothing was. ``images`` holds objects
        whose ``open()`` returns a PIL image.

        >>> import bench_assets as bench
        >>> result = bench.evaluate("codis", model="random", limit=4)
        >>> result.samples.images[0][0].open().mode
        'RGB'
        """
        return samples.samples_frame(self.evaluations, self.image_store)

    @property
    def rows(self) -> list[Metric]:
        """The metrics as rows, in the order of the tasks."""
        return [row for evaluation in self.evaluations for row in evaluation.metrics]

    @interface
    def show(self, n: int = 10, *, wrong: bool | None = None, category: str = "") -> None:
        """Show samples with their images, inline in a notebook, else as text.

        >>> import bench_assets as bench
        >>> bench.evaluate("codis", model="random", limit=4).show(0)
        no sample

        Args:
            n: Maximum number of samples.
            wrong: True: only wrong responses, those with the lowest score first; False: only right
                ones; None: both. A box is right from an IoU of 0.5 (``accuracy_at_50``), any other
                response with full points.
            category: Only this category, as ``metrics`` names it; "": all.

        Raises:
            UnknownNameError: If no question is of that category.
        """
        n = arguments.count("n", n)
        rows = self.samples
        if category:
            rows = rows[rows.question_id.isin(self._questions_of(category))]
        if wrong is not None:
            right_from = {
                evaluation.task.name: evaluation.task.right_from for evaluation in self.evaluations
            }
            rows = rows[rows.score.notna() & (rows.max_score > 0)]
            share = rows.score / rows.max_score
            rows = rows[(share < rows.task.map(right_from)) == wrong]
            rows = rows.loc[share[rows.index].sort_values(kind="stable").index] if wrong else rows
        display.show_samples(cast("list[dict[str, Any]]", rows.head(n).to_dict("records")))

    @interface
    def plot(self, metric: str = "") -> Plot:
        """Plot the intervals of all categories beside chance and the best constant response.

        >>> import bench_assets as bench
        >>> bench.evaluate("codis", model="random", limit=4).plot()
        Plot of 3 rows; save it by .save("plot.svg")

        Args:
            metric: "": each task's primary metric.

        Raises:
            UnknownNameError: If no task has such a metric.
        """
        lines = [
            bar
            for evaluation in self.evaluations
            for bar in _bars(evaluation, metric, self._is_single)
        ]
        if not lines:
            raise UnknownNameError("metric", metric, {row.metric for row in self.rows})
        return Plot(svg=bar_chart(lines, self.title), n_rows=len(lines))

    def _questions_of(self, category: str) -> set[str]:
        """Ids of the questions of a category or another slice.

        Raises:
            UnknownNameError: If there are none.
        """
        ids_by_task: dict[str, set[str]] = {}
        for evaluation in self.evaluations:
            for question in evaluation.questions:
                for name in filter(None, (question.category, *evaluation.task.slices(question))):
                    ids_by_task.setdefault(name, set()).add(question.question_id)
        if category not in ids_by_task:
            raise UnknownNameError("category", category, ids_by_task)
        return ids_by_task[category]

    @property
    def title(self) -> str:
        """Name of the model, and the share of questions if partial."""
        conditions = {evaluation.condition for evaluation in self.evaluations} - {"main"}
        harnesses = {evaluation.task.measured_by for evaluation in self.evaluations} - {""}
        parts = [self.model, *sorted(conditions)]
        parts += [f"{IMPORTED}{harness}" for harness in sorted(harnesses)]
        parts += [f"PARTIAL: {self.partial}"] * self.is_partial
        return ", ".join(parts)

    @property
    def is_partial(self) -> bool:
        """Whether some questions were left out."""
        return bool(self.partial)

    @property
    def _is_single(self) -> bool:
        return len(self.evaluations) == 1

    def __repr__(self) -> str:
        """Format the results as ``bench evaluate`` does."""
        return f"{display.results_text(self.results)}\n{self._more}"

    def _repr_html_(self) -> str:
        """The results for notebooks."""
        return display.results_html(self.results, linked=self._is_stored) + self._more

    @property
    def _more(self) -> str:
        return f"{len(self.rows)} row{'s' * (len(self.rows) != 1)} in .metrics"

    @property
    def _is_stored(self) -> bool:
        """Whether the report has a page of each number."""
        imported = any(evaluation.task.measured_by for evaluation in self.evaluations)
        return not self.is_partial and not imported


def check_run(argument: str, value: object) -> Run:
    """Check that an argument is a run.

    Raises:
        SettingsError: If it is not a ``Run``.
    """
    if not isinstance(value, Run):
        raise SettingsError(
            f"{argument}: expected the result of bench.evaluate or bench.read_results, got"
            f" {type(value).__name__}"
        )
    return value


def _bars(one: Evaluation, metric: str, is_single: bool) -> Sequence[Bar]:
    rows = [row for row in one.metrics if row.metric == (metric or one.task.primary_metric)]
    full = scale(rows)
    by_slice = {
        name: [q for q in one.questions if name in one.task.slices(q)]
        for name in {row.category for row in rows} - {"all"}
    }
    is_primary = not metric or metric == one.task.primary_metric
    return [
        Bar(
            label=row.category if is_single else f"{one.task.title}: {row.category}",
            row=row,
            full=full,
            chance=chance_level(one.task, by_slice.get(row.category, one.questions))
            if is_primary
            else None,
        )
        for row in rows
    ]
