"""Imported results as suites of a home: on the leaderboard, in the report and the audit.

Listed in ``imports.json`` of the home. Their tables are written by the import only, and models
cannot be evaluated on them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench_assets.core.schema.chat import Image, Prompt
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.tables.json_records import read_entries, records
from bench_assets.evaluation.suite import HomeConfiguration, Suite
from bench_assets.evaluation.task import Condition, ScoredQuestion, Task
from bench_assets.external_results.results import ExternalResults
from bench_resources.config.environment import IMPORTS_FILE

SCORER = "exact_match"
"""Scorer of blind baselines; models keep the points of the harness."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTask:
    """An imported task of another harness, as stored in a home."""

    suite: str
    task: str  # as the harness names it
    harness: str  # with its version
    metric: str  # the headline
    lower_is_better: bool = False

    def as_task(self) -> Task:
        """Build the task; its points are those of the harness."""
        from bench_assets.file_benchmarks.scoring import AnswerScoring  # slow: 0.1 s

        condition = Condition(prompt=_prompt, about=f"As {self.harness} sent it.")
        return Task(
            name=self.suite,
            title=f"{self.task} ({self.harness})",
            version=1,
            conditions={"main": condition},
            scorers=AnswerScoring.of(SCORER).scorers,
            measures={self.metric: mean_errors if self.lower_is_better else mean_points},
            adds={self.metric: _errors if self.lower_is_better else _points},
            lower_is_better=frozenset({self.metric} if self.lower_is_better else ()),
            measured_by=self.harness,
        )


def imported_task(results: ExternalResults, suite: str = "") -> ImportedTask:
    """Build the imported task of results, optionally under another name.

    Raises:
        SourceError: If the harness has no headline number.
    """
    if not results.metrics:
        raise SourceError(
            f"{results.task} of {results.measured_by}: no headline number, and no scored sample;"
            " give the file that the harness wrote when its evaluation was complete"
        )
    return ImportedTask(
        suite=suite or results.suite,
        task=results.task,
        harness=results.measured_by,
        metric=results.metrics[0].name,
        lower_is_better=results.metrics[0].lower_is_better,
    )


def to_imported_task(task: Task) -> ImportedTask:
    """Convert a task of ``as_task`` back to the imported one."""
    title = task.title.removesuffix(f" ({task.measured_by})")
    return ImportedTask(
        suite=task.name,
        task=title,
        harness=task.measured_by,
        metric=task.primary_metric,
        lower_is_better=task.is_lowest_best,
    )


def mean_points(scored_questions: Sequence[ScoredQuestion]) -> Mean:
    """Mean of the harness's points over all samples, on its scale.

    ``max_points`` is the most that a sample of this model has, and differs between models.
    """
    max_points = _max_points(scored_questions)
    average = mean(
        ScoredPoint(None if score.points is None else score.points / max_points, question.cluster)
        for question, score in scored_questions
    )
    return average._replace(
        value=average.value * max_points,
        low=average.low * max_points,
        high=average.high * max_points,
    )


def mean_errors(scored_questions: Sequence[ScoredQuestion]) -> Mean:
    """Mean difference between full points and those of the response, over the scored samples."""
    average, max_points = mean_points(scored_questions), _max_points(scored_questions)
    return average._replace(
        value=max_points - average.value,
        low=max_points - average.high,
        high=max_points - average.low,
    )


def _points(scored_questions: Sequence[ScoredQuestion]) -> list[float]:
    return [score.points or 0.0 for _, score in scored_questions]


def _errors(scored_questions: Sequence[ScoredQuestion]) -> list[float]:
    return [score.max_points - (score.points or 0.0) for _, score in scored_questions]


def _max_points(scored_questions: Sequence[ScoredQuestion]) -> float:
    return scored_questions[0].score.max_points if scored_questions else 1.0


def read_imports(home: Path) -> list[ImportedTask]:
    """Read the tasks that were imported into a home.

    Raises:
        SourceError: If the list is damaged.
    """
    file = home / IMPORTS_FILE
    return records(read_entries(file), ImportedTask).require() if file.exists() else []


def suites_of_home(settings: HomeConfiguration) -> list[tuple[str, Suite]]:
    """Build a suite for each task that was imported into a home, with the file that names it.

    Raises:
        SourceError: If the list is damaged.
    """
    return [
        (
            str(settings.home / IMPORTS_FILE),
            Suite(
                name=task.suite,
                tasks=(task.as_task(),),
                assets=partial(_questions, task),
                code=(Path(__file__),),
            ),
        )
        for task in read_imports(settings.home)
    ]


def _questions(imported: ImportedTask) -> Sequence[object]:
    """The question table as an external asset, which Dagster shows but does not materialize."""
    import dagster as dg

    return [
        dg.AssetSpec(
            key=[imported.suite, "questions"],
            group_name=imported.suite,
            description=f"One row: a sample of {imported.task}, imported from {imported.harness}.",
        )
    ]


def _prompt(question: Question) -> Prompt:
    return Prompt.of(*map(Image, question.images), question.text)
