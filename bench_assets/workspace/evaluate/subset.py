"""Partial evaluations: a sample of each task's questions, or some categories.

Their metrics are printed, and not stored in tables. Responses are cached as usual, so that a full
evaluation requests only the rest.
"""

import itertools
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial

from bench_assets.annotation.tasks import OpenVerdictsError
from bench_assets.asset_factory.configured_runner import (
    configured_responses,
    configured_runner,
    configured_verdicts,
)
from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.asset_factory.partial_results import (
    run_part,
    snapshot_while_running,
    store_part,
    write_partial,
)
from bench_assets.asset_factory.question_subset import WHOLE, QuestionSubset, slice_names
from bench_assets.asset_factory.suite_assets import ModelSession
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.errors import BenchError, SettingsError, UnknownNameError
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation.runner import AnnotatorVerdicts, GeneratedResponses, Responses, Runner
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Evaluation, Task, by_category
from bench_assets.workspace.console.output import progress_style
from bench_assets.workspace.evaluate.open_verdicts import publish_verdicts
from bench_assets.workspace.materialization import asset_selections
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.sections.models import ElicitedSpec
from bench_resources.models.registry.opening import Models
from bench_resources.response_cache.throughput import RequestProgress


def subset_tasks(bench: Workbench, suites: Sequence[str]) -> list[Task]:
    """Select the tasks that can be evaluated on a subset.

    Raises:
        SettingsError: If they evaluate encoders, which rank all candidates.
    """
    tasks = asset_selections.tasks_of_one_kind(
        [task for name in suites for task in bench.catalog.tasks_of(name)]
    )
    if tasks[0].asked_of != "model":
        raise SettingsError(
            f"{tasks[0].name}: evaluates encoders, which rank all candidates. Remove --limit and"
            " --category"
        )
    return tasks


def without_needless_limit(
    bench: Workbench, suites: Sequence[str], runs: Sequence[tuple[str, str]], subset: QuestionSubset
) -> QuestionSubset:
    """Return the subset, or the whole if its limit leaves out no question; builds questions.

    Raises:
        BenchError: If no questions of a suite can be built, or encoders answer them.
    """
    if subset.categories or not subset.limit:
        return subset
    conditions = dict.fromkeys(condition for _, condition in runs)
    for suite in suites:
        names, _ = build_questions(bench, suite)
        for task, condition in itertools.product(subset_tasks(bench, names), conditions):
            questions = bench.questions(task, condition)
            if len(subset.select(task, questions)) < len(questions):
                return subset
    return WHOLE


def evaluate_suite_subsets(
    bench: Workbench, suites: Sequence[str], runs: Sequence[tuple[str, str]], subset: QuestionSubset
) -> Iterator[tuple[str, list[Evaluation], list[BenchError]]]:
    """Build the questions of all suites, then evaluate models on a subset of them.

    ``runs`` are pairs of a model and a condition. Each category has to be in one of the suites.

    Yields:
        Each suite, its evaluations, and the errors of its tasks that could not be built.

    Raises:
        OpenVerdictsError: If people judge, and verdicts on some responses are missing.
        BenchError: If a category is unknown, a model cannot be opened, or a response is missing.
    """
    n_unjudged = Counter[str]()
    all_tasks = [task for suite in suites for task in subset_tasks(bench, [suite])]
    _check_known_categories(bench, all_tasks, runs, subset)
    builds = {suite: build_questions(bench, suite) for suite in suites}
    built_names = [name for names, _ in builds.values() for name in names]
    check_categories(bench, built_names, runs, subset)
    for suite, (names, failures) in builds.items():
        bench.remember_source(suite)
        tasks = subset_tasks(bench, names)
        evaluations: list[Evaluation] = []
        for run in runs:
            evaluations += _evaluate_tasks(bench, tasks, run, subset, n_unjudged)
        yield suite, evaluations, failures
    if n_unjudged:
        raise OpenVerdictsError(publish_verdicts(bench, n_unjudged))


def _check_known_categories(
    bench: Workbench, tasks: Sequence[Task], runs: Sequence[tuple[str, str]], subset: QuestionSubset
) -> None:
    """Check categories before questions are built, if all categories are already known."""
    if not subset.categories:
        return
    categories = {name for task in tasks for name in task.counts}
    conditions = dict.fromkeys(condition for _, condition in runs)
    for task, condition in itertools.product(tasks, conditions):
        if bench.tables.exists(questions_key(task, condition)):
            categories |= slice_names(task, bench.questions(task, condition))
        elif task.slices is not by_category or not task.counts:
            return
    for name in subset.categories:
        if name not in categories:
            raise UnknownNameError("category", name, categories - {"all"})


def check_categories(
    bench: Workbench, suites: Sequence[str], runs: Sequence[tuple[str, str]], subset: QuestionSubset
) -> None:
    """Check that the requested categories exist in the suites.

    Raises:
        UnknownNameError: If one does not exist.
    """
    tasks = [task for name in suites for task in bench.catalog.tasks_of(name)]
    conditions = dict.fromkeys(condition for _, condition in runs)
    if subset.categories:
        subset.check(
            (task, bench.questions(task, condition))
            for task in tasks
            if task.asked_of == "model"
            for condition in conditions
        )


def _evaluate_tasks(
    bench: Workbench,
    tasks: Sequence[Task],
    run: tuple[str, str],
    subset: QuestionSubset,
    n_unjudged: Counter[str],
) -> Iterator[Evaluation]:
    """Evaluate task by task; adds the number of responses without human verdicts to a counter."""
    model, condition = run
    elicits = isinstance(bench.model(model).spec, ElicitedSpec)
    category_note = f" of {', '.join(subset.categories)}" if subset.categories else ""
    with bench.models() as models:
        for task in tasks:
            questions = bench.questions(task, condition)
            selected = subset.select(task, questions)
            if elicits:  # options are elicited, unless no question has any
                selected = [
                    question for question in selected if question.is_single_choice
                ] or selected
            if not selected:
                continue
            responses = _snapshot_responses(bench, models, task, run, selected)
            runner = model_runner(bench, models, task, model, responses, condition)
            note = f"{len(selected)} of {len(questions)} questions{category_note}"
            try:
                yield _run_partial(bench, runner, model, selected, questions, note)
            except _UnjudgedError as error:
                n_unjudged[task.name] += error.n


def evaluate_answered(
    bench: Workbench, task: Task, model: str, condition: str, n_answered: int
) -> Evaluation:
    """Evaluate a recorded model that answers a part of the questions; the others count as failed.

    Raises:
        OpenVerdictsError: If people judge, and verdicts on some responses are missing.
        BenchError: If the judge cannot be called.
    """
    questions = bench.questions(task, condition)
    bench.remember_source(task.suite)
    with bench.models() as models:
        open_recorded = partial(open_model, models, f"{model}: {task.name}", model, condition)
        responses = configured_responses(task, models, model, open_recorded)
        runner = model_runner(bench, models, task, model, responses, condition)
        runner = replace(runner, complete=False)
        note = f"{n_answered} of {len(questions)} questions"
        try:
            return _run_partial(bench, runner, model, questions, questions, note)
        except _UnjudgedError as error:
            n_unjudged = {task.name: error.n}
    raise OpenVerdictsError(publish_verdicts(bench, n_unjudged))


def _run_partial(
    bench: Workbench,
    runner: Runner,
    model: str,
    questions: Sequence[Question],
    all_questions: Sequence[Question],
    note: str,
) -> Evaluation:
    """Run a partial evaluation, and store it with a note on its questions."""
    if isinstance(runner.judge, AnnotatorVerdicts):
        runner = replace(runner, judge=_CompleteVerdicts(runner.judge))
    try:
        evaluation = run_part(runner, bench.tables, questions, all_questions)
    except _UnjudgedError as error:
        _write_unjudged(bench, runner, model, error)
        raise
    return store_part(bench.settings, evaluation, questions, note)


def _snapshot_responses(
    bench: Workbench,
    models: Models,
    task: Task,
    run: tuple[str, str],
    questions: Sequence[Question],
) -> GeneratedResponses:
    """Responses of a model; while it answers, snapshots are stored."""
    model, condition = run
    responses = configured_responses(task, models, model, partial(models.open, model, condition))

    @contextmanager
    def open_with_snapshots() -> Generator[ChatModel]:
        with (
            RequestProgress(f"{model}: {task.name}", _ignore, progress_style()) as progress,
            models.open(model, condition, progress) as opened_model,
            snapshot_while_running(
                bench.settings,
                task,
                condition,
                questions,
                ModelSession(opened_model, progress),
                responses,
            ),
        ):
            yield opened_model

    return replace(responses, open=open_with_snapshots)


def model_runner(
    bench: Workbench,
    models: Models,
    task: Task,
    model: str,
    responses: Responses,
    condition: str = "main",
) -> Runner:
    """Build the runner of a model's responses, with the configured judge and reader.

    A missing response or verdict stops it.
    """

    def open_judge(name: str) -> AbstractContextManager[ChatModel]:
        return open_model(models, f"{name}: judges {task.name}", name, condition)

    judge = bench.settings.suite(task.suite, SuiteSettings).judge
    verdicts = configured_verdicts(task, models, judge, open_judge, model)
    runner = configured_runner(task, bench.settings, responses, verdicts, condition)
    return replace(runner, complete=True)


class _UnjudgedError(OpenVerdictsError):
    """People have not judged all responses."""

    def __init__(
        self, predictions: Sequence[Prediction], judgements: Sequence[Judgement], n: int
    ) -> None:
        super().__init__(f"{n} responses need human verdicts")
        self.predictions, self.judgements, self.n = predictions, judgements, n


@dataclass(frozen=True, slots=True)
class _CompleteVerdicts:
    """Verdicts of people on all responses."""

    people: AnnotatorVerdicts

    def judgements(
        self, task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> list[Judgement]:
        """Collect the verdicts.

        Raises:
            _UnjudgedError: If some are missing.
        """
        rows = self.people.judgements(task, questions, predictions)
        if n := sum(bool(row.error) for row in rows):
            raise _UnjudgedError(predictions, rows, n)
        return rows


def _write_unjudged(bench: Workbench, runner: Runner, model: str, error: _UnjudgedError) -> None:
    """Store responses without all verdicts of people, from which units of annotation are built."""
    evaluation = Evaluation(
        task=runner.task,
        model=model,
        condition=runner.condition,
        questions=[],
        predictions=error.predictions,
        judgements=error.judgements,
        scores=[],
        metrics=[],
    )
    write_partial(bench.settings.home, evaluation)


@contextmanager
def open_model(
    models: Models, title: str, name: str, condition: str = "main"
) -> Generator[ChatModel]:
    """Open a model; shows a progress bar in a terminal, progress lines elsewhere."""
    with (
        RequestProgress(title, _ignore, progress_style()) as progress,
        models.open(name, condition, progress) as model,
    ):
        yield model


def _ignore(line: str) -> None:
    """Drop a line of a run's log, because there is no run."""
