"""Partial evaluations: a sample of each task's questions, or some categories.

Their metrics are printed, and not stored in tables. Responses are cached as usual, so that a full
evaluation requests only the rest.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256

from bench_assets.asset_factory.evaluation_assets import evaluation_key, questions_key
from bench_assets.asset_factory.evaluation_steps import read_judged_responses
from bench_assets.asset_factory.partial_results import (
    mark_partial,
    snapshot_while_running,
    write_partial,
)
from bench_assets.asset_factory.suite_assets import ModelSession
from bench_assets.core.schema.errors import BenchError, SettingsError, UnknownNameError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question
from bench_assets.core.schema.signature import format_judge_setup
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.blind_baselines import best_constants, metrics_with_baselines
from bench_assets.evaluation.elicited_model import has_options
from bench_assets.evaluation.outcomes import (
    accept_refusals,
    require_responses,
)
from bench_assets.evaluation.reviews import load_review
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task, TaskEvaluation, by_category
from bench_assets.workspace.console.output import METRIC_COLUMNS, Cell, progress_style
from bench_assets.workspace.materialization import asset_selections
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.sections.models import ElicitedSpec
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.setup import setup_of
from bench_resources.response_cache.throughput import RequestProgress

_SEED = 0  # fixed, so that all models get the same questions


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSubset:
    """A subset of a question table; groups (pairs, problems of several parts) stay together."""

    limit: int = 0  # most questions of a task, but at least one group; 0: all
    categories: tuple[str, ...] = ()  # as in tables of metrics; (): all

    def of(self, task: Task, questions: Sequence[Question]) -> list[Question]:
        """Draw from a task's questions; keeps the order of the table.

        Stratified by category. Sampled by a digest of each group's id, so that a larger subset
        contains the smaller ones.
        """
        groups = [
            group
            for group in _groups(questions)
            if not self.categories or set(self.categories) & _slice_names(task, group)
        ]
        drawn: set[str] = set()
        for group in _spread(groups):
            if self.limit and drawn and len(drawn) + len(group) > self.limit:
                break
            drawn |= {question.question_id for question in group}
        return [question for question in questions if question.question_id in drawn]

    def check(self, tables: Iterable[tuple[Task, Sequence[Question]]]) -> None:
        """Check that each category exists in some task.

        Raises:
            UnknownNameError: If one does not.
        """
        if self.categories:
            known = {name for task, questions in tables for name in _slice_names(task, questions)}
            for name in self.categories:
                if name not in known:
                    raise UnknownNameError("category", name, known)


WHOLE = QuestionSubset()


def _slice_names(task: Task, questions: Iterable[Question]) -> set[str]:
    return {name for one in questions for name in (one.category, *task.slices(one)) if name}


def _groups(questions: Sequence[Question]) -> list[list[Question]]:
    groups: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        groups[question.group_id or question.question_id].append(question)
    return list(groups.values())


def _spread(groups: Iterable[list[Question]]) -> list[list[Question]]:
    """Order groups so that every prefix has about the category shares of the whole."""
    by_category: dict[str, list[list[Question]]] = defaultdict(list)
    for group in sorted(groups, key=_draw):
        by_category[group[0].category].append(group)
    placed = (one for group in by_category.values() for one in _spread_positions(group))
    return [group for _, _, group in sorted(placed, key=lambda one: one[:2])]


def _spread_positions(
    groups: Sequence[list[Question]],
) -> Iterator[tuple[float, bytes, list[Question]]]:
    """Position of each group's middle within its category, in [0, 1]."""
    total, before = sum(map(len, groups)), 0
    for group in groups:
        yield (before + len(group) / 2) / total, _draw(group), group
        before += len(group)


def _draw(group: Sequence[Question]) -> bytes:
    first = group[0]
    return sha256(f"{_SEED}/{first.group_id or first.question_id}".encode()).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialMetric(Metric):
    """A metric over a subset of the questions; not a number of the benchmark."""

    partial: str  # "4 of 80 questions", with the categories if chosen


PARTIAL_COLUMNS: dict[str, Cell] = {
    **METRIC_COLUMNS,
    "n": lambda row: f"{METRIC_COLUMNS['n'](row)} PARTIAL: {row.partial}",
}


def subset_tasks(bench: Workbench, suites: Sequence[str]) -> list[Task]:
    """Select the tasks that can be evaluated on a subset.

    Raises:
        SettingsError: If they evaluate encoders, which rank all candidates.
    """
    tasks = [task for name in suites for task in bench.catalog.tasks_of(name)]
    if (first := asset_selections.tasks_of_one_kind(tasks)[0]).asked_of != "model":
        raise SettingsError(
            f"{first.name}: evaluates encoders, which rank all candidates. Remove --limit and"
            " --category"
        )
    return asset_selections.tasks_of_one_kind(tasks)


def evaluate_suite_subsets(
    bench: Workbench,
    suites: Sequence[str],
    askings: Sequence[tuple[str, str]],
    part: QuestionSubset,
) -> Iterator[tuple[str, list[TaskEvaluation], list[BenchError]]]:
    """Build the questions of all suites, then evaluate models on a subset of them.

    Args:
        bench: The home folder.
        suites: Suites or tasks; each category has to be in one of them.
        askings: Pairs of a model and a condition.
        part: The subset.

    Yields:
        Each suite, its evaluations, and the errors of its tasks that could not be built.

    Raises:
        BenchError: If a model cannot be opened, or questions remain without a response.
    """
    named = [task for suite in suites for task in subset_tasks(bench, [suite])]
    _check_known_categories(bench, named, askings, part)
    built = {suite: build_questions(bench, suite) for suite in suites}
    check_categories(bench, [name for names, _ in built.values() for name in names], askings, part)
    for suite, (names, failures) in built.items():
        tasks = subset_tasks(bench, names)
        found = [
            row for name, one in askings for row in evaluate_subset(bench, tasks, name, one, part)
        ]
        yield suite, found, failures


def _check_known_categories(
    bench: Workbench,
    tasks: Sequence[Task],
    askings: Sequence[tuple[str, str]],
    part: QuestionSubset,
) -> None:
    """Check categories before questions are built, if all categories are already known.

    Raises:
        UnknownNameError: If one does not exist.
    """
    known = {name for task in tasks for name in task.counts}
    for task in tasks if part.categories else ():
        for condition in dict.fromkeys(condition for _, condition in askings):
            if bench.tables.exists(questions_key(task, condition)):
                known |= _slice_names(task, bench.questions(task, condition))
            elif task.slices is not by_category or not task.counts:
                return
    for name in part.categories:
        if name not in known:
            raise UnknownNameError("category", name, known - {"all"})


def check_categories(
    bench: Workbench,
    suites: Sequence[str],
    askings: Sequence[tuple[str, str]],
    part: QuestionSubset,
) -> None:
    """Check that the requested categories exist in the suites.

    Raises:
        UnknownNameError: If one does not exist.
    """
    tasks = [task for name in suites for task in bench.catalog.tasks_of(name)]
    conditions = dict.fromkeys(condition for _, condition in askings)
    if part.categories:
        part.check(
            (task, bench.questions(task, one))
            for task in tasks
            if task.asked_of == "model"
            for one in conditions
        )


def evaluate_subset(
    bench: Workbench, tasks: Sequence[Task], model: str, condition: str, part: QuestionSubset
) -> list[TaskEvaluation]:
    """Generate, judge, score and aggregate on a subset of each task's questions.

    Raises:
        BenchError: If the model cannot be opened, or questions remain without a response.
    """
    elicits = isinstance(bench.settings.model(model), ElicitedSpec)
    for task in tasks:
        pipeline.reject_people_judge(task, bench.settings.suite(task.suite, SuiteSettings).judge)
    with bench.models() as models:
        return [
            _evaluate_task(bench, models, (task, condition), model, (subset, questions, part))
            for task in tasks
            for questions in [bench.questions(task, condition)]
            if (subset := _elicitable_questions(part.of(task, questions), elicits=elicits))
        ]


def _elicitable_questions(questions: list[Question], *, elicits: bool) -> list[Question]:
    """For option elicitation, keep only questions with options, unless there are none."""
    return [one for one in questions if has_options(one)] or questions if elicits else questions


def _evaluate_task(
    bench: Workbench,
    models: Models,
    of: tuple[Task, str],
    model: str,
    selection: tuple[list[Question], Sequence[Question], QuestionSubset],
) -> TaskEvaluation:
    (task, condition), (subset, questions, part) = of, selection
    chosen = bench.settings.suite(task.suite, SuiteSettings)
    with (
        open_model(models, f"{model}: {task.name}", model, condition) as session,
        snapshot_while_running(bench.settings, task, condition, subset, session),
    ):
        raw_predictions = pipeline.predict(task, subset, session.model, condition)
    predictions = [accept_refusals(row, chosen.accept) for row in raw_predictions]
    require_responses(task.name, "questions", predictions, chosen.accept)
    judgements = (
        judge_predictions(models, task, chosen, subset, predictions) if task.is_judged else []
    )
    require_responses(task.name, "verdicts", judgements, chosen.accept)
    review = load_review(chosen.review)
    scores = pipeline.score(task, subset, predictions, judgements, chosen.scorer, review)
    category_note = f" of {', '.join(part.categories)}" if part.categories else ""
    partial_note = f"{len(subset)} of {len(questions)} questions{category_note}"
    keys = partial(evaluation_key, task, condition)
    known = read_judged_responses(bench.tables, keys, questions, predictions, judgements)
    constants = [] if known else best_constants(task, subset)
    rows = metrics_with_baselines(task, subset, predictions, scores, constants, known)
    found = TaskEvaluation(
        task=task,
        model=model,
        condition=condition,
        questions=subset,
        predictions=predictions,
        scores=scores,
        metrics=[
            PartialMetric(**asdict(row), partial=partial_note)
            for row in mark_partial(rows, partial_note)
        ],
        partial=partial_note,
    )
    write_partial(bench.settings.home, found, judgements)
    return found


def judge_predictions(
    models: Models,
    task: Task,
    settings: SuiteSettings,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> Sequence[Judgement]:
    """Judge predictions with the configured judge."""
    chosen = task.chosen_judge(settings.judge)
    if not chosen.model:
        return pipeline.judge(task, questions, predictions, None, chosen.name)
    setup = format_judge_setup(chosen.name, setup_of(chosen.model, models.settings.load()))
    with open_model(models, f"{chosen.model}: judges {task.name}", chosen.model) as judge:
        judgements = pipeline.judge(task, questions, predictions, judge.model, chosen.name)
    return [replace(accept_refusals(row, settings.accept), setup=setup) for row in judgements]


@contextmanager
def open_model(
    models: Models, title: str, name: str, condition: str = "main"
) -> Generator[ModelSession]:
    """Open a model; shows a progress bar in a terminal, progress lines elsewhere."""
    with (
        RequestProgress(title, lambda line: None, progress_style()) as progress,
        models.open(name, condition, progress, progress.throughput) as model,
    ):
        yield ModelSession(model, progress)
