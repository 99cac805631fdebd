"""Tests a suite against its contract, also in other packages: ``check_suite(SUITE)``."""

import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from bench_assets.asset_factory.suite_assets import select_group
from bench_assets.catalog import Catalog
from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.rows import Prediction, Question, Score
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.runner import Runner, StoredResponses
from bench_assets.evaluation.suite import Suite, suite_defects
from bench_assets.evaluation.task import CANNOT_BE_SCORED, Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings

Gold: TypeAlias = Callable[[Question], str]
_QuestionTables: TypeAlias = Mapping[tuple[str, str], Sequence[Question]]  # by task and condition

_JOINED = {"choices": ", ", "blanks": "\n"}


def plain_gold(question: Question) -> str:
    """Response of a model that knows the answer: letters, one blank per line, or the first text."""
    if joint := _JOINED.get(question.kind):
        return joint.join(question.answer)
    return question.answer[0]


def check_suite(
    suite: Suite,
    *,
    gold: Gold = plain_gold,
    group_sizes: Mapping[str, Collection[int]] | None = None,
    bench_toml: str = "",
) -> None:
    """Build a suite twice in a temporary home, and check its tables and tasks.

    Without a source in ``bench_toml``, the mini edition is built. No model is called except by the
    suite's own assets.

    Args:
        suite: The suite.
        gold: Makes the response that must get full points for a question.
        group_sizes: Allowed sizes of groups, by task.
        bench_toml: Content of the home's bench.toml.

    Raises:
        AssertionError: At the first violation; names the suite, task or question.
    """
    defects = suite_defects(suite)
    assert not defects, f"{suite.name}: {'; '.join(defects)}"
    with tempfile.TemporaryDirectory() as home:
        Path(home, "bench.toml").write_text(bench_toml, encoding="utf-8")
        try:
            first, second = _build_twice(suite, Path(home))
        except BenchError as error:
            raise AssertionError(f"{suite.name}: its questions cannot be built: {error}") from error
    for task in suite.tasks:
        for condition in task.conditions:
            questions = first[task.name, condition]
            rebuilt = second[task.name, condition]
            assert digest(questions) == digest(rebuilt), (
                f"{task.name}, condition {condition}: a second build of the same source gives "
                "different questions; use a fixed seed"
            )
            check_questions(task, condition, questions, gold, (group_sizes or {}).get(task.name))


def check_questions(
    task: Task,
    condition: str,
    questions: Sequence[Question],
    gold: Gold = plain_gold,
    group_sizes: Collection[int] | None = None,
) -> None:
    """Check one question table, and its task's prompts and scores.

    Raises:
        AssertionError: As ``check_suite``.
    """
    name = f"{task.name}, condition {condition}"
    assert questions or condition != "main", f"{name}: there are no questions"
    _check_ids(task, questions)
    _check_slices(task, questions)
    _check_counts(task, condition, questions)
    if group_sizes:
        groups = Counter(question.group_id for question in questions if question.group_id)
        for group, n in groups.items():
            assert n in group_sizes, (
                f"{name}: group {group} has {n} questions, expected {sorted(group_sizes)}"
            )
    if task.asked_of == "model":
        _check_prompts(task, condition, questions)
    if task.asked_of == "model" and task.is_scored_without_judge:
        _check_points(task, condition, questions, gold)


def _build_twice(suite: Suite, home: Path) -> tuple[_QuestionTables, _QuestionTables]:
    """Question tables of two builds from one source; checks the assets' descriptions between."""
    with Workbench(load_settings(home), catalog=Catalog(suites=(suite,))) as bench:
        assert not bench.catalog.problems, bench.catalog.problems[0]
        bench.build_questions(suite.name)
        _check_descriptions(suite, bench)
        first = _read_tables(suite, bench)
        bench.build_questions(suite.name)
        return first, _read_tables(suite, bench)


def _read_tables(suite: Suite, bench: Workbench) -> _QuestionTables:
    questions_by_table: dict[tuple[str, str], Sequence[Question]] = {}
    for task in suite.tasks:
        for condition in task.conditions:
            try:
                questions_by_table[task.name, condition] = bench.questions(task, condition)
            except TableError:  # the source may lack data for an ablation
                questions_by_table[task.name, condition] = []
    return questions_by_table


def _check_descriptions(suite: Suite, bench: Workbench) -> None:
    graph = bench.definitions.resolve_asset_graph()
    own_assets = select_group(suite.name, f"{suite.name}_ablations").resolve(graph)
    for key in sorted(own_assets):
        assert "One row:" in (graph.get(key).description or ""), (
            f"asset {key.to_user_string()}: its description does not say 'One row: ...'"
        )


def _check_ids(task: Task, questions: Sequence[Question]) -> None:
    counts = Counter(question.question_id for question in questions)
    for question in questions:
        name = question.question_id
        assert counts[name] == 1, f"{task.name}: {counts[name]} questions have the id {name}"
        assert name.startswith(f"{task.suite}/"), f"{name}: its id must begin with {task.suite}/"
        assert question.task == task.name, (
            f"{name}: its task is {question.task!r}, expected {task.name!r}"
        )


def _check_slices(task: Task, questions: Sequence[Question]) -> None:
    for question in questions:
        for name in task.slices(question):
            is_valid = isinstance(name, str) and name not in ("", "all")
            assert is_valid, f"{question.question_id}: {name!r} is not a slice name"


def _check_counts(task: Task, condition: str, questions: Sequence[Question]) -> None:
    """Check categories, and for a published edition the paper's counts."""
    counts = Counter(question.category for question in questions)
    paper_categories = task.counts.keys() - {"all"}
    unknown = sorted(counts.keys() - paper_categories) if paper_categories else []
    assert not unknown, f"{task.name}: {unknown[0]!r} is not one of the paper's categories"
    if condition == "main" and {question.edition for question in questions} == {"published"}:
        counts["all"] = len(questions)
        for category, n in task.counts.items():
            assert counts[category] == n, (
                f"{task.name}: {counts[category]} questions of {category}, the paper has {n}"
            )


def _check_prompts(task: Task, condition: str, questions: Sequence[Question]) -> None:
    """Check that prompts have a text, and do not depend on the answer."""
    make_prompt = task.conditions[condition].prompt
    for question in questions:
        where = f"{question.question_id}, condition {condition}"
        prompt = make_prompt(question)
        assert isinstance(prompt, Prompt), f"{where}: its prompt is not a Prompt"
        texts = [part for turn in prompt.turns for part in turn.parts if isinstance(part, str)]
        assert "".join(texts).strip(), f"{where}: its prompt has no text"
        other_question = replace(question, answer=tuple("another" for _ in question.answer))
        assert make_prompt(other_question) == prompt, f"{where}: its prompt depends on the answer"


def _check_points(task: Task, condition: str, questions: Sequence[Question], gold: Gold) -> None:
    """Check that right answers get the full points, and empty responses fewer."""
    answerable = [question for question in questions if question.answer]
    for score in _score_responses(task, condition, answerable, gold):
        min_points = score.max_points * (1 - 1e-6)  # a mean of two equal texts may round
        where = f"{score.question_id}, condition {condition}"
        assert (score.points or 0.0) >= min_points, (
            f"{where}: the right answer gets {score.points} of "
            f"{score.max_points} points {score.note}".rstrip()
        )
        assert (score.points or 0.0) <= score.max_points * (1 + 1e-6), (
            f"{where}: the right answer gets {score.points} points, more than its max_points,"
            f" {score.max_points}"
        )
    for score in _score_responses(task, condition, answerable, lambda _: ""):
        where = f"{score.question_id}, condition {condition}"
        assert not score.points or score.points < score.max_points, (
            f"{where}: an empty response gets full points"
        )
        assert not score.note.startswith(CANNOT_BE_SCORED), (
            f"{where}: an empty response {score.note}; give it no points"
        )


def _score_responses(
    task: Task, condition: str, questions: Sequence[Question], response: Gold
) -> Sequence[Score]:
    predictions = [
        Prediction(
            question_id=question.question_id, model="", condition=condition, text=response(question)
        )
        for question in questions
    ]
    _, _, scores = Runner(task=task, responses=StoredResponses(predictions)).predict_and_score(
        questions
    )
    return scores
