"""Data of ``bench explain`` (all inputs of one score) and ``bench tables diff``.

``bench tables diff`` compares two models, conditions or files of metrics.
"""

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bench_assets.annotation.answers.values import question_units, unit_answers
from bench_assets.annotation.tasks import Answer, Unit
from bench_assets.asset_factory.evaluation_tables import evaluation_key
from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.comparison.causes import EvaluationTables, split_model_part
from bench_assets.comparison.comparable import Side, compare_sides
from bench_assets.comparison.difference import Cause, decompose_difference
from bench_assets.comparison.people_checks import with_people
from bench_assets.comparison.sides import find_evaluations
from bench_assets.comparison.verdicts import Comparison
from bench_assets.core.reading.reasoning import split_reasoning
from bench_assets.core.schema.errors import ImageError, SettingsError, TableError, UnknownNameError
from bench_assets.core.schema.metric_text import unread_bounds
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.tables.arrow import to_json
from bench_assets.evaluation.evidence import StoredAnswer, find_evidence
from bench_assets.evaluation.task import Task
from bench_assets.workspace.inspect.stale_numbers import stale_reason
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.stores import existing_response_store
from bench_resources.images.store import open_image_store
from bench_resources.tables.parquet import TableFiles

if TYPE_CHECKING:
    from bench_resources.response_cache.store import ResponseStore

JsonObject = dict[str, Any]

_THINKING = "|thinking="


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageEvidence:
    """An image of the question: its location and size."""

    sha256: str
    path: str
    width: int | None  # px
    height: int | None
    problem: str = ""  # why it cannot be read


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleEvidence:
    """One response with its verdicts and points."""

    prediction: JsonObject
    thought: str
    judgements: list[JsonObject]  # each with the judge's prompt; None if unknown
    score: JsonObject
    read_from: tuple[int, int] | None  # start and end in the prediction's text, where it is known


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEvidence:
    """Every input of one score."""

    task: str
    model: str
    condition: str
    question: JsonObject
    images: list[ImageEvidence]
    people: list[JsonObject]  # annotations behind the question, by time
    prompt: JsonObject  # its sha256, whether it was sent, and its turns
    draws: list[SampleEvidence]
    scorer: str  # name and description of the scorer
    value: JsonObject  # the primary metric over all questions
    signature: str
    stale: str  # reason why the value is stale; "": it is current


def explain(bench: Workbench, question_id: str, model: str, condition: str) -> ScoreEvidence:
    """Collect all inputs of a model's score for a question.

    Raises:
        UnknownNameError: If there is no such question, condition or evaluated model.
        SettingsError: If the model was not asked the question.
        TableError: If a table is damaged.
    """
    task, question = _find_question(bench, question_id, condition)
    tables = _tables_with_model(bench, task, condition, model)
    rows = _question_rows(tables, task, question, model, condition)
    if not rows["predictions"]:
        key = evaluation_key(task, condition, "predictions")
        question_ids = [row.question_id for row in tables.read(key, Prediction, model)]
        raise SettingsError(
            f"{model} was not asked {question_id}. Name a question of its evaluation (of"
            f" {len(question_ids)}): {min(question_ids, default='none')}"
        )
    store = existing_response_store(bench.settings)
    prompt = task.conditions[condition].prompt(question)
    is_sent = _sent_prompt(store, prompt.sha256) is not None
    draws = list(_samples(rows, store, task, question))
    metrics = _metrics(tables, task, model, condition)
    value = _primary_value(task, with_people(bench.tables, task, metrics))
    return ScoreEvidence(
        task=task.name,
        model=model,
        condition=condition,
        question=to_json(question),
        images=[_image(bench, digest) for digest in question.images],
        people=[to_json(answer) for answer in _annotations_of(bench, task, question)],
        prompt={"sha256": prompt.sha256, "sent": is_sent, "turns": prompt.to_json()},
        draws=draws,
        scorer=_scorer_description(task, draws[0].score.get("scorer", "")),
        value=value,
        signature=value.get("signature", ""),
        stale=stale_reason(bench, task, metrics),
    )


def _tables_with_model(bench: Workbench, task: Task, condition: str, model: str) -> TableFiles:
    """The tables with a model's responses: those of whole evaluations, else of partial ones."""
    key = evaluation_key(task, condition, "predictions")
    evaluated = bench.tables.partitions(key)
    if model in evaluated:
        return bench.tables
    partials = partial_tables(bench.settings.home)
    partly_evaluated = partials.known(key)
    if model in partly_evaluated:
        return partials
    names = sorted({*evaluated, *partly_evaluated})
    raise UnknownNameError(f"model evaluated on {task.name}, {condition},", model, names)


def _annotations_of(bench: Workbench, task: Task, question: Question) -> list[Answer]:
    tables, answers = bench.tables, list[Answer]()
    for form in bench.catalog.suite(task.suite).annotation_tasks:
        units_key, answers_key = form.table("units").split("/"), form.table("answers").split("/")
        if tables.exists(units_key) and tables.exists(answers_key):
            all_units = tables.read(units_key, Unit)
            units = question_units(
                question.question_id, question.group_id, question.images, all_units
            )
            answers += unit_answers(units, tables.read(answers_key, Answer))
    return sorted(answers, key=lambda answer: answer.changed_at)


def _samples(
    rows: Mapping[str, Sequence[JsonObject]],
    store: "ResponseStore | None",
    task: Task,
    question: Question,
) -> Iterator[SampleEvidence]:
    """Group the rows of a question, by table, into its samples."""
    for prediction in rows["predictions"]:
        sample = prediction["sample"]
        judgements = [row for row in rows["judgements"] if row["sample"] == sample]
        scores = [row for row in rows["scores"] if row["sample"] == sample]
        yield SampleEvidence(
            prediction=prediction,
            thought=_reasoning_of(prediction),
            judgements=[
                {**row, "prompt": _sent_prompt(store, row["prompt_sha256"])} for row in judgements
            ],
            score=scores[0] if scores else {},
            read_from=_read_from(task, question, prediction, scores[0]) if scores else None,
        )


def _read_from(
    task: Task, question: Question, prediction: JsonObject, score: JsonObject
) -> tuple[int, int] | None:
    stored = StoredAnswer(**{name: score[name] for name in StoredAnswer._fields})
    return find_evidence(task, question, prediction["text"], prediction["decoding"], stored)


def _sent_prompt(store: "ResponseStore | None", sha256: str) -> str | None:
    return store.prompt(sha256) if store and sha256 else None


def _reasoning_of(prediction: Mapping[str, Any]) -> str:
    """Extract the reasoning of a response, by the tags in the model's signature."""
    raw = prediction["raw_text"]
    if not raw or raw == prediction["text"]:
        return ""
    _, generation = split_model_part(prediction["decoding"])
    _, _, tags = generation.partition(_THINKING)
    opening, _, closing = tags.partition(" ")
    return split_reasoning(raw, (opening, closing) if closing else None).thought


def _image(bench: Workbench, digest: str) -> ImageEvidence:
    store = open_image_store(bench.settings)
    path = store.place.address(digest)
    try:
        width, height = store.open(digest).size
    except ImageError as error:
        return ImageEvidence(sha256=digest, path=path, width=None, height=None, problem=str(error))
    return ImageEvidence(sha256=digest, path=path, width=width, height=height)


def _scorer_description(task: Task, scorer: str) -> str:
    """Name of a scorer, with the first line of its docstring if it has one."""
    function = task.scorers.get(scorer)
    docstring = inspect.getdoc(function) if function else None
    return f"{scorer}: {docstring.splitlines()[0]}" if docstring else scorer


def _metrics(tables: TableFiles, task: Task, model: str, condition: str) -> list[Metric]:
    key = evaluation_key(task, condition, "metrics")
    return tables.read(key, Metric, model) if tables.exists(key, model) else []


def _primary_value(task: Task, rows: Sequence[Metric]) -> JsonObject:
    """The primary metric over all questions; {} if it was not measured."""
    primary = (task.primary_metric, "all")
    overall = [row for row in rows if (row.metric, row.category) == primary]
    if not overall:
        return {}
    row = overall[-1]
    return {name: getattr(row, name) for name in _SHOWN_FIELDS} | {"bounds": unread_bounds(row)}


_SHOWN_FIELDS = (
    *("metric", "value", "low", "high", "people", "unread", "n_scored", "n_failed"),
    *("edition", "signature"),
)


def _question_rows(
    tables: TableFiles, task: Task, question: Question, model: str, condition: str
) -> dict[str, list[JsonObject]]:
    """Rows of a question in a model's tables, by table, as JSON objects."""
    row_types: dict[str, type[Any]]
    row_types = {"predictions": Prediction, "judgements": Judgement, "scores": Score}
    rows_by_table: dict[str, list[JsonObject]] = {}
    for table, row_type in row_types.items():
        key = evaluation_key(task, condition, table)
        is_stored = model in tables.partitions(key)  # imported tables are no assets
        rows = tables.read(key, row_type, model) if is_stored else []
        rows_by_table[table] = [
            to_json(row) for row in rows if row.question_id == question.question_id
        ]
    return rows_by_table


def _find_question(bench: Workbench, question_id: str, condition: str) -> tuple[Task, Question]:
    question_ids: list[str] = []
    suite = question_id.partition("/")[0]
    tasks = bench.catalog.tasks_of(suite)
    with_condition = [task for task in tasks if condition in task.conditions]
    for task in with_condition or tasks:  # without the condition, the first task raises an error
        for question in bench.questions(task, condition):
            if question.question_id == question_id:
                return task, question
            question_ids.append(question.question_id)
    command = f"bench tables questions {suite}"
    raise UnknownNameError("question", question_id, question_ids, all_by=command)


class EvaluationPair(NamedTuple):
    """Two evaluations of a task, and the causes of their difference."""

    task: Task
    before: EvaluationTables
    after: EvaluationTables
    causes: list[Cause]
    stale: Sequence[str]  # sides that are not current, with the reason

    @property
    def effect(self) -> Comparison | None:
        """Effect on the primary metric; None without scores and metrics of both."""
        before = Side(self.before.scores, self.before.metrics)
        after = Side(self.after.scores, self.after.metrics)
        effects = compare_sides(self.task, self.after.questions, before, after, slices=False)
        return effects[0] if effects else None


def compare_evaluations(  # noqa: PLR0913  (an option each)
    bench: Workbench,
    before: str,
    after: str,
    *,
    suite: str = "",
    model: str = "",
    condition: str = "main",
    metric: str = "",
    left_out: list[TableError],
) -> Iterator[EvaluationPair]:
    """Compare two evaluations on every task that has both.

    Args:
        bench: The home.
        before: A model, a condition, or a file of metrics.
        after: The evaluation to compare with, in any of these forms.
        suite: Suite or task; "": all.
        model: Model whose conditions are compared.
        condition: Condition of the compared models.
        metric: Metric of the compared tasks; "": each task's primary metric.
        left_out: Receives the error of each task with a damaged table.

    Raises:
        UnknownNameError: If a suite or evaluation is unknown, or no common task has the metric.
        SettingsError: If no task has both, a condition is named without its model, or a model
            without one of its conditions.
        TableError: If a file is missing, or is no table of metrics.
    """
    tasks = bench.catalog.tasks_of(suite) if suite else bench.catalog.tasks
    conditions = {condition for task in tasks for condition in task.conditions}
    if model and conditions.isdisjoint((before, after)):
        raise SettingsError(
            f"--model {model}: {before} and {after} are no conditions. Leave it out"
        )
    if not model:
        models = (name for name in (before, after) if name not in conditions)
        model = next((name for name in models if not name.endswith(".parquet")), "")
    old = _evaluation_readers(bench, before, tasks, model, condition)
    new = _evaluation_readers(bench, after, tasks, model, condition)
    common_tasks = _common_tasks(bench, before, old, after, new)
    for task in _tasks_with_metric(common_tasks, metric) if metric else common_tasks:
        try:
            old_tables, new_tables = old[task.name](), new[task.name]()
        except TableError as error:
            left_out.append(error)
            continue
        stale = []
        for tables in (old_tables, new_tables):
            if reason := stale_reason(bench, task, tables.metrics):
                stale.append(f"{tables.name}: {reason}")
        yield EvaluationPair(
            task=task,
            before=old_tables,
            after=new_tables,
            causes=decompose_difference(task, old_tables, new_tables, metric),
            stale=stale,
        )


def _common_tasks(
    bench: Workbench, before: str, old: Collection[str], after: str, new: Collection[str]
) -> list[Task]:
    """Tasks with evaluations on both sides, in the order of ``old``."""
    tasks = {task.name: task for task in bench.catalog.tasks}
    common = [tasks[name] for name in old if name in new]
    if not common:
        raise SettingsError(
            f"no task has both: {before} was evaluated on {', '.join(old) or 'none'}; {after} on"
            f" {', '.join(new) or 'none'}"
        )
    return common


def _tasks_with_metric(tasks: Sequence[Task], metric: str) -> list[Task]:
    selected = [task for task in tasks if metric in task.measures]
    if not selected:
        names = {name for task in tasks for name in task.measures}
        raise UnknownNameError("metric", metric, names)
    return selected


def _evaluation_readers(
    bench: Workbench, name: str, tasks: Sequence[Task], model: str, condition: str
) -> dict[str, Callable[[], EvaluationTables]]:
    """Map tasks to readers of their evaluation: a damaged table affects its own task only."""
    evaluations = find_evaluations(name, bench.tables, tasks, model, condition)
    return {evaluation.task.name: evaluation.read for evaluation in evaluations}
