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
from bench_assets.evaluation.task import CANNOT_BE_SCORED, RULES, Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings

Gold: TypeAlias = Callable[[Question], str]
_Tables: TypeAlias = Mapping[tuple[str, str], Sequence[Question]]  # by task and condition

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
        AssertionError: At the first violation; names the task or question.
    """
    defects = suite_defects(suite)
    assert not defects, f"{suite.name}: {'; '.join(defects)}"
    with tempfile.TemporaryDirectory() as home:
        Path(home, "bench.toml").write_text(bench_toml, encoding="utf-8")
        try:
            first, second = _built_twice(suite, Path(home))
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
    _ids(task, questions)
    _slices(task, questions)
    _counts(task, condition, questions)
    for group, n in Counter(
        question.group_id for question in questions if question.group_id
    ).items():
        assert not group_sizes or n in group_sizes, (
            f"{name}: group {group} has {n} questions, expected {sorted(group_sizes or ())}"
        )
    if task.asked_of == "model":
        _prompts(task, condition, questions)
    if task.asked_of == "model" and (not task.is_judged or RULES in task.judges):
        _points(task, condition, questions, gold)


def _built_twice(suite: Suite, home: Path) -> tuple[_Tables, _Tables]:
    with Workbench(load_settings(home), catalog=Catalog(suites=(suite,))) as bench:
        assert not bench.catalog.problems, bench.catalog.problems[0]
        bench.build_questions(suite.name)
        _descriptions(suite, bench)
        first = _tables(suite, bench)
        bench.build_questions(suite.name)
        return first, _tables(suite, bench)


def _tables(suite: Suite, bench: Workbench) -> _Tables:
    questions_by_table: dict[tuple[str, str], Sequence[Question]] = {}
    for task in suite.tasks:
        for condition in task.conditions:
            try:
                questions_by_table[task.name, condition] = bench.questions(task, condition)
            except TableError:  # the source may lack data for an ablation
                questions_by_table[task.name, condition] = []
    return questions_by_table


def _descriptions(suite: Suite, bench: Workbench) -> None:
    graph = bench.definitions.resolve_asset_graph()
    own_assets = select_group(suite.name, f"{suite.name}_ablations").resolve(graph)
    for key in sorted(own_assets):
        assert "One row:" in (graph.get(key).description or ""), (
            f"asset {key.to_user_string()}: its description does not say 'One row: ...'"
        )


def _ids(task: Task, questions: Sequence[Question]) -> None:
    times = Counter(question.question_id for question in questions)
    for subject in questions:
        name = subject.question_id
        assert times[name] == 1, f"{task.name}: {times[name]} questions have the id {name}"
        assert name.startswith(f"{task.suite}/"), f"{name}: its id must begin with {task.suite}/"
        assert subject.task == task.name, (
            f"{name}: its task is {subject.task!r}, expected {task.name!r}"
        )


def _slices(task: Task, questions: Sequence[Question]) -> None:
    for question in questions:
        for part in task.slices(question):
            assert isinstance(part, str) and part not in ("", "all"), (  # noqa: PT018
                f"{question.question_id}: {part!r} is not a slice name"
            )


def _counts(task: Task, condition: str, questions: Sequence[Question]) -> None:
    """Check categories, and for a published edition the paper's counts."""
    counts = Counter(question.category for question in questions)
    known = task.counts.keys() - {"all"}
    strange = sorted(counts.keys() - known) if known else []
    assert not strange, f"{task.name}: {strange[0]!r} is not one of the paper's categories"
    if condition == "main" and {question.edition for question in questions} == {"published"}:
        counts["all"] = len(questions)
        for category, n in task.counts.items():
            assert counts[category] == n, (
                f"{task.name}: {counts[category]} questions of {category}, the paper has {n}"
            )


def _prompts(task: Task, condition: str, questions: Sequence[Question]) -> None:
    """Check that prompts do not depend on the answer."""
    ask = task.conditions[condition].prompt
    for question in questions:
        where = f"{question.question_id}, condition {condition}"
        prompt = ask(question)
        assert isinstance(prompt, Prompt), f"{where}: its prompt is not a Prompt"
        texts = [part for turn in prompt.turns for part in turn.parts if isinstance(part, str)]
        assert "".join(texts).strip(), f"{where}: its prompt has no text"
        other_question = replace(question, answer=tuple("another" for _ in question.answer))
        assert ask(other_question) == prompt, f"{where}: its prompt depends on the answer"


def _points(task: Task, condition: str, questions: Sequence[Question], gold: Gold) -> None:
    answerable = [question for question in questions if question.answer]
    for score in _scores(task, condition, answerable, gold):
        least = score.max_points * (1 - 1e-6)  # a mean of two equal texts may round
        assert (score.points or 0.0) >= least, (
            f"{score.question_id}, condition {condition}: the right answer gets {score.points} of "
            f"{score.max_points} points {score.note}".rstrip()
        )
        assert (score.points or 0.0) <= score.max_points * (1 + 1e-6), (
            f"{score.question_id}, condition {condition}: the right answer gets {score.points} "
            f"points, more than its max_points, {score.max_points}"
        )
    for score in _scores(task, condition, answerable, lambda _: ""):
        assert not score.points or score.points < score.max_points, (
            f"{score.question_id}, condition {condition}: an empty response gets full points"
        )
        assert not score.note.startswith(CANNOT_BE_SCORED), (
            f"{score.question_id}, condition {condition}: an empty response {score.note}; "
            "give it no points"
        )


def _scores(
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
