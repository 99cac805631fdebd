"""``Run``: metrics and samples of one evaluation."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from bench_assets.comparison.results import Result
from bench_assets.core.images.charts import Bar, bar_chart, scale_end
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
        """The evaluated parts, such as "4 of 80 questions", joined by "; "; "" if all is evaluated.

        >>> import bench_assets as bench
        >>> bench.evaluate("codis", model="random", limit=6).partial
        '6 of 80 questions'
        """
        parts = dict.fromkeys(evaluation.partial for evaluation in self.evaluations)
        return "; ".join(filter(None, parts))

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
            wrong: True: only wrong responses, the lowest share of the points first; False: only
                right ones; None: all, also unscored ones. A box is right from an IoU of 0.5
                (``accuracy_at_50``), any other response with full points.
            category: Only this category, as ``metrics`` names it; "": all.

        Raises:
            UnknownNameError: If no question is of that category.
        """
        n = arguments.require_count("n", n)
        rows = self.samples
        if category:
            rows = rows[rows.question_id.isin(self._question_ids(category))]
        right_from = {
            evaluation.task.name: evaluation.task.right_from for evaluation in self.evaluations
        }
        share = rows.score.astype(float) / rows.max_score  # NaN: unscored, or worth no points
        rows = rows.assign(share=share, is_right=share >= rows.task.map(right_from))
        if wrong is not None:
            rows = rows[rows.share.notna() & (rows.is_right != wrong)]
        if wrong:
            rows = rows.sort_values("share", kind="stable")
        display.show_samples(cast("list[dict[str, Any]]", rows.head(n).to_dict("records")))

    @interface
    def plot(self, metric: str = "") -> Plot:
        """Plot the intervals of all categories beside the best constant response.

        >>> import bench_assets as bench
        >>> bench.evaluate("codis", model="random", limit=4).plot()
        Plot of 3 rows; save it by .save("plot.svg")

        Args:
            metric: The metric; "": each task's primary metric, which also shows chance.

        Raises:
            UnknownNameError: If no task has such a metric.
        """
        has_titles = len(self.evaluations) > 1
        bars = [
            bar
            for evaluation in self.evaluations
            for bar in _bars(evaluation, metric, has_titles=has_titles)
        ]
        if not bars:
            raise UnknownNameError("metric", metric, {row.metric for row in self.rows})
        return Plot(svg=bar_chart(bars, self.title), n_rows=len(bars))

    def _question_ids(self, category: str) -> set[str]:
        """Ids of the questions of a category or another slice, or "all".

        Raises:
            UnknownNameError: If no question has it.
        """
        ids_by_slice: dict[str, set[str]] = {}
        for evaluation in self.evaluations:
            for question in evaluation.questions:
                slices = ("all", question.category, *evaluation.task.slices(question))
                for name in filter(None, slices):
                    ids_by_slice.setdefault(name, set()).add(question.question_id)
        if category not in ids_by_slice:
            raise UnknownNameError("category", category, ids_by_slice)
        return ids_by_slice[category]

    @property
    def title(self) -> str:
        """Model, conditions besides "main", harnesses, and the number of questions if partial."""
        conditions = {evaluation.condition for evaluation in self.evaluations} - {"main"}
        harnesses = {evaluation.task.measured_by for evaluation in self.evaluations} - {""}
        parts = [self.model, *sorted(conditions)]
        parts += [f"{IMPORTED}{harness}" for harness in sorted(harnesses)]
        if self.is_partial:
            parts.append(f"PARTIAL: {self.partial}")
        return ", ".join(parts)

    @property
    def is_partial(self) -> bool:
        """Whether some questions were left out."""
        return bool(self.partial)

    def __repr__(self) -> str:
        """Format the results as ``bench evaluate`` does."""
        return f"{display.results_text(self.results)}\n{self._rows_note}"

    def _repr_html_(self) -> str:
        return display.results_html(self.results, linked=self._is_stored) + self._rows_note

    @property
    def _rows_note(self) -> str:
        noun = "row" if len(self.rows) == 1 else "rows"
        return f"{len(self.rows)} {noun} in .metrics"

    @property
    def _is_stored(self) -> bool:
        """Whether the report has a page of each number."""
        is_imported = any(evaluation.task.measured_by for evaluation in self.evaluations)
        return not self.is_partial and not is_imported


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


def _bars(evaluation: Evaluation, metric: str, *, has_titles: bool) -> list[Bar]:
    """Bars of a metric, or of the primary one for "": over all questions, then each slice."""
    task = evaluation.task
    metric = metric or task.primary_metric
    rows = [row for row in evaluation.metrics if row.metric == metric]
    full = scale_end(rows)
    is_primary = metric == task.primary_metric
    bars = []
    for row in rows:
        label = f"{task.title}: {row.category}" if has_titles else row.category
        chance = _slice_chance(evaluation, row.category) if is_primary else None
        bars.append(Bar(label=label, row=row, full=full, chance=chance))
    return bars


def _slice_chance(evaluation: Evaluation, category: str) -> float | None:
    """Chance level of the questions of a slice; "all": of every question."""
    task, questions = evaluation.task, evaluation.questions
    if category != "all":
        questions = [question for question in questions if category in task.slices(question)]
    return chance_level(task, questions)
