"""Tables of evaluations: their keys, and what is read from them beside an evaluation's own rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from typing import NamedTuple

import dagster as dg

from bench_assets.core.judging.second_look import is_reader
from bench_assets.core.schema.errors import SettingsError, TableError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Rejection
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.baselines.blind_baselines import BestConstant, best_constants
from bench_assets.evaluation.judged_responses import JudgedResponses
from bench_assets.evaluation.task import RULES, Task
from bench_resources.tables.parquet import TableFiles

CONSTANTS = "constants"
"""Name of the table of best constant responses, beside the questions."""

AUDIT = "audit"
"""Name of the table of audit findings, beside the questions."""

_QUESTIONS_SQL = """
SELECT count(*) AS n, coalesce(min(edition), '') AS edition,
  min(kind) AS first_kind, max(kind) AS last_kind,
  min(len(options)) AS min_options, max(len(options)) AS max_options
FROM questions
"""

_CHANCE = """
SELECT max(value) AS chance FROM metrics
WHERE task = $task AND metric = 'chance' AND category = 'all' AND NOT isnan(value)
  AND contains(signature, $data)
"""

_MAX_JUDGED = 500_000  # judged responses that are read for blind baselines, the latest first


def audit_key(task: Task) -> dg.AssetKey:
    """Key of the table of a task's audit findings, beside its questions."""
    return dg.AssetKey([*task.name.split("/"), AUDIT])


def evaluation_key(task: Task, condition: str, table: str) -> list[str]:
    """Asset key of an evaluation table; the main condition is not part of the key."""
    return [*task.name.split("/"), *([] if condition == "main" else [condition]), table]


def questions_key(task: Task, condition: str) -> list[str]:
    """Asset key of the questions that a condition asks.

    Raises:
        UnknownNameError: If the task has no such condition.
    """
    question_condition = condition if task.condition(condition).own_questions else "main"
    return evaluation_key(task, question_condition, "questions")


def constants_key(task: Task, condition: str) -> list[str]:
    """Asset key of the best constant responses to the questions that a condition asks."""
    return [*questions_key(task, condition)[:-1], CONSTANTS]


def no_questions_error(task: Task, condition: str) -> SettingsError:
    """The error of a condition without questions, with the input that it needs."""
    hint = task.conditions[condition].needs or "see its rejected rows for the reasons"
    return SettingsError(f"{task.name}, condition {condition}: there are no questions; {hint}")


class QuestionTableFacts(NamedTuple):
    """Size, edition and chance level of a task's question table."""

    n: int
    edition: str
    chance: float | None
    """Score of a random guess: 1 / options, if the primary metric is accuracy and all questions are
    single-choice with equally many options; else the task's measure ``chance``, if any."""


def describe_questions(tables: TableFiles, task: Task) -> QuestionTableFacts:
    """Describe a task's question table; without a readable one, ``n`` is 0."""
    try:
        rows = tables.query(
            _QUESTIONS_SQL, {"questions": ([questions_key(task, "main")], Question)}
        )
    except TableError:  # reported by the command that builds the table
        return QuestionTableFacts(n=0, edition="", chance=None)
    (row,) = rows.to_pylist()
    n_options = row["min_options"]
    is_single_choice = row["first_kind"] == row["last_kind"] == "choice"
    has_equal_options = bool(n_options) and n_options == row["max_options"]
    if is_single_choice and has_equal_options and task.primary_metric == "accuracy":
        chance = 1 / n_options
    else:
        chance = _measured_chance(tables, task)
    return QuestionTableFacts(n=row["n"], edition=row["edition"], chance=chance)


def _measured_chance(tables: TableFiles, task: Task) -> float | None:
    """The task's measure ``chance`` on the present questions; None if it has not been measured."""
    if "chance" not in task.measures:
        return None
    data = short_digest(tables.digest(questions_key(task, "main")) or "")
    sources = {"metrics": ([evaluation_key(task, "main", "metrics")], Metric)}
    parameters = {"task": task.name, "data": f"|data:{data}|"}
    rows = tables.query(_CHANCE, sources, unreadable={}, **parameters).to_pylist()
    return rows[0]["chance"] if rows else None


def read_constants(
    tables: TableFiles, key: Sequence[str], task: Task, questions: Sequence[Question]
) -> list[BestConstant]:
    """Read the scores of constant responses to these questions; computed if the table has none."""
    rows = tables.read(key, BestConstant) if tables.exists(key) else []
    data = short_digest(digest(questions))
    return [row for row in rows if row.data == data] or best_constants(task, questions)


def read_judged_responses(
    tables: TableFiles,
    keys: Callable[[str], Sequence[str]],
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
) -> JudgedResponses | None:
    """Read the verdicts of a model's judge on the responses of models to these questions.

    Of the other models, those with the latest verdicts are read, up to ``_MAX_JUDGED`` responses.

    Args:
        tables: The tables of the home.
        keys: Key of an evaluation table by its name.
        questions: The whole question table; the model may have answered a part of it.
        predictions: Predictions of the model.
        judgements: Judgements of the predictions; None is returned if no model or person judged.
    """
    judges = frozenset(
        (row.judge, row.setup)
        for row in judgements
        if row.judge != RULES and not is_reader(row.judge)
    )
    if not judges:
        return None
    questions_digest, evaluated = short_digest(digest(questions)), predictions[0].model
    key = keys("judgements")
    latest_first = sorted(tables.partitions(key), key=lambda model: -tables.written(key, model))
    comparable = (
        model
        for model in latest_first
        if model != evaluated
        and _has_same_questions(tables, keys("metrics"), model, questions_digest)
    )
    other_models = list(islice(comparable, _MAX_JUDGED // max(1, len(questions))))
    evaluations = chain([(predictions, judgements)], _read_evaluations(tables, keys, other_models))
    return JudgedResponses.of(evaluations, judges)


def read_stored_judged_responses(
    tables: TableFiles,
    keys: Callable[[str], Sequence[str]],
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
) -> JudgedResponses | None:
    """Like ``read_judged_responses``, with the model's stored judgements; None without them."""
    if not predictions:
        return None
    key, model = keys("judgements"), predictions[0].model
    if not tables.exists(key, model):
        return None
    judgements = tables.read(key, Judgement, model)
    return read_judged_responses(tables, keys, questions, predictions, judgements)


def _has_same_questions(
    tables: TableFiles, key: Sequence[str], model: str, questions_digest: str
) -> bool:
    """Whether a model has readable metrics of the questions with this digest."""
    try:
        rows = tables.read(key, Metric, model) if tables.exists(key, model) else []
    except TableError:
        return False
    return bool(rows) and rows[0].questions == questions_digest


def _read_evaluations(
    tables: TableFiles, keys: Callable[[str], Sequence[str]], models: Iterable[str]
) -> Iterator[tuple[Sequence[Prediction], Sequence[Judgement]]]:
    for model in models:
        with suppress(TableError):  # unreadable tables: `bench home verify` names them
            yield (
                tables.read(keys("predictions"), Prediction, model),
                tables.read(keys("judgements"), Judgement, model),
            )


def rejection_tables(task: Task, condition: str) -> list[str]:
    """Tables of rejected source rows: of a task, and of a condition's own files."""
    return [name for name in (task.rejections, task.condition(condition).rejections) if name]


def read_rejections(
    tables: TableFiles, task: Task, edition: str, condition: str = "main"
) -> dict[str, list[Rejection]]:
    """Rejected rows of a task's source by table, of the tables that exist.

    Empty for the mini edition, whose source contains invalid rows on purpose.
    """
    names = [] if edition == "mini" else rejection_tables(task, condition)
    keys = {name: name.split("/") for name in names}
    return {name: tables.read(key, Rejection) for name, key in keys.items() if tables.exists(key)}


def count_rejections(
    tables: TableFiles, task: Task, questions: Sequence[Question], condition: str = "main"
) -> int | None:
    """Number of rejected rows of the questions' source; None if it is not counted."""
    edition = questions[0].edition if questions else ""
    rejections = read_rejections(tables, task, edition, condition)
    return sum(map(len, rejections.values())) if rejections else None
