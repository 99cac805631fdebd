"""Data of ``bench explain`` (all inputs of one score) and ``bench tables diff``.

``bench tables diff`` compares two models, conditions or files of metrics.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bench_assets.annotation.answers.values import question_units, unit_answers
from bench_assets.annotation.tasks import Answer, Unit
from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
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

Step = dict[str, Any]

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

    prediction: Step
    thought: str
    judgements: list[Step]  # each with the judge's prompt; None if unknown
    score: Step
    read_from: tuple[int, int] | None  # start and end in the prediction's text, where it is known


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEvidence:
    """Every input of one score."""

    task: str
    model: str
    condition: str
    question: Step
    images: list[ImageEvidence]
    people: list[Step]  # annotations behind the question, by time
    prompt: Step  # its sha256, whether it was sent, and its turns
    draws: list[SampleEvidence]
    scorer: str  # name and description of the scorer
    value: Step  # the primary metric over all questions
    signature: str
    stale: str  # reason why the value is stale; "": it is current

    def to_json(self) -> Step:
        """Convert to one JSON object."""
        return asdict(self)


def explain(
    bench: Workbench, question_id: str, model: str, condition: str = "main"
) -> ScoreEvidence:
    """Collect all inputs of a model's score for a question.

    Raises:
        UnknownNameError: If no question or no evaluated model has that name.
        SettingsError: If the model was not asked the question.
        TableError: If a table is damaged.
    """
    task, selected = _find(bench, question_id, condition)
    key = evaluation_key(task, condition, "predictions")
    evaluated, partials = bench.tables.partitions(key), partial_tables(bench.settings.home)
    tables = bench.tables if model in evaluated else partials
    if model not in (names := sorted({*evaluated, *partials.known(key)})):
        raise UnknownNameError(f"model evaluated on {task.name}, {condition},", model, names)
    steps = _trace(bench, tables, task, selected, model, condition)
    question, prompt = next(steps), next(steps)
    draws = list(_samples(steps, existing_response_store(bench.settings), task, selected))
    if not draws:
        asked = [row.question_id for row in tables.read(key, Prediction, model)]
        raise SettingsError(
            f"{model} was not asked {question_id}: its evaluation is of {len(asked)} questions,"
            f" such as {min(asked, default='none')}"
        )
    rows = _metrics(tables, task, model, condition)
    value = _value(task, with_people(bench.tables, task, rows))
    return ScoreEvidence(
        task=task.name,
        model=model,
        condition=condition,
        question={name: value for name, value in question.items() if name != "table"},
        images=[_image(bench, one) for one in question["images"]],
        people=[to_json(answer) for answer in _annotations_of(bench, task, question)],
        prompt={name: value for name, value in prompt.items() if name != "table"},
        draws=draws,
        scorer=_scorer_description(task, draws[0].score.get("scorer", "")),
        value=value,
        signature=value.get("signature", ""),
        stale=stale_reason(bench, task, rows),
    )


def _annotations_of(bench: Workbench, task: Task, question: Mapping[str, Any]) -> list[Answer]:
    """Annotations behind a question."""
    answers: list[Answer] = []
    for form in bench.catalog.suite(task.suite).annotation_tasks:
        keys = [form.table(table_name).split("/") for table_name in ("units", "answers")]
        if all(map(bench.tables.exists, keys)):
            units = question_units(
                question["question_id"],
                question["group_id"],
                question["images"],
                bench.tables.read(keys[0], Unit),
            )
            answers += unit_answers(units, bench.tables.read(keys[1], Answer))
    return sorted(answers, key=lambda answer: answer.changed_at)


def _samples(
    steps: Iterator[Step], store: "ResponseStore | None", task: Task, question: Question
) -> Iterator[SampleEvidence]:
    """Group the rows of each sample by table."""
    of: dict[str, list[Step]] = {"predictions": [], "judgements": [], "scores": []}
    for step in steps:
        of[step["table"].rpartition("/")[2]].append(_without_table(step))
    for prediction in of["predictions"]:
        judgements = [row for row in of["judgements"] if row["sample"] == prediction["sample"]]
        scores = [row for row in of["scores"] if row["sample"] == prediction["sample"]]
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
    task: Task, question: Question, prediction: Step, score: Step
) -> tuple[int, int] | None:
    stored = StoredAnswer(*(score[name] for name in StoredAnswer._fields))
    return find_evidence(task, question, prediction["text"], prediction["decoding"], stored)


def _without_table(step: Step) -> Step:
    return {name: value for name, value in step.items() if name != "table"}


def _sent_prompt(store: "ResponseStore | None", sha256: str) -> str | None:
    return store.prompt(sha256) if store and sha256 else None


def _reasoning_of(prediction: Mapping[str, Any]) -> str:
    """Extract the reasoning of a response, by the tags in the model's signature."""
    raw = prediction["raw_text"]
    if not raw or raw == prediction["text"]:
        return ""
    _, _, tags = split_model_part(prediction["decoding"])[1].partition(_THINKING)
    opening, _, closing = tags.partition(" ")
    return split_reasoning(raw, (opening, closing) if closing else None).thought


def _image(bench: Workbench, digest: str) -> ImageEvidence:
    store = open_image_store(bench.settings)
    try:
        width, height = store.open(digest).size
    except ImageError as error:
        return ImageEvidence(
            sha256=digest,
            path=store.place.address(digest),
            width=None,
            height=None,
            problem=str(error),
        )
    path = store.place.address(digest)
    return ImageEvidence(sha256=digest, path=path, width=width, height=height)


def _scorer_description(task: Task, scorer: str) -> str:
    """Name of a scorer, and the first line of its docstring."""
    named = task.scorers.get(scorer)
    docstring = (getattr(named, "__doc__", None) or "").strip()
    return f"{scorer}: {docstring.splitlines()[0]}" if docstring else scorer


def _metrics(tables: TableFiles, task: Task, model: str, condition: str) -> list[Metric]:
    key = evaluation_key(task, condition, "metrics")
    return tables.read(key, Metric, model) if tables.exists(key, model) else []


def _value(task: Task, rows: Sequence[Metric]) -> Step:
    found = [r for r in rows if (r.metric, r.category) == (task.primary_metric, "all")]
    return {
        name: value
        for row in found
        for name, value in (
            *((name, getattr(row, name)) for name in _SHOWN),
            ("bounds", unread_bounds(row)),
        )
    }


_SHOWN = (
    *("metric", "value", "low", "high", "people", "unread", "n_scored", "n_failed"),
    *("edition", "signature"),
)


def _trace(
    bench: Workbench,
    tables: TableFiles,
    task: Task,
    question: Question,
    model: str,
    condition: str,
) -> Iterator[Step]:
    """Yield the question, its prompt, and its rows in a model's tables, as JSON objects.

    Each object begins with the name of its table. The prompt is exact, as sent.
    """
    yield {"table": "/".join(questions_key(task, condition)), **to_json(question)}
    prompt = task.conditions[condition].prompt(question)
    sent = _sent_prompt(existing_response_store(bench.settings), prompt.sha256)
    yield {
        "table": "prompts",
        "sha256": prompt.sha256,
        "sent": sent is not None,
        "turns": prompt.to_json(),
    }
    row_types: dict[str, type[Any]]
    row_types = {"predictions": Prediction, "judgements": Judgement, "scores": Score}
    for table, row_type in row_types.items():
        key = evaluation_key(task, condition, table)
        there = model in tables.partitions(key)  # imported tables are no assets
        for row in tables.read(key, row_type, model) if there else ():
            if row.question_id == question.question_id:
                yield {"table": "/".join(key), **to_json(row)}


def _find(bench: Workbench, question_id: str, condition: str) -> tuple[Task, Question]:
    """A question and its task.

    Raises:
        UnknownNameError: If no question has that id.
    """
    seen: list[str] = []
    suite = question_id.partition("/")[0]
    tasks = bench.catalog.tasks_of(suite)
    having = [task for task in tasks if condition in task.conditions]
    for task in having or tasks:  # without the condition, the first task raises an error
        for question in bench.questions(task, condition):
            if question.question_id == question_id:
                return task, question
            seen.append(question.question_id)
    raise UnknownNameError("question", question_id, seen, all_by=f"bench tables questions {suite}")


class EvaluationPair(NamedTuple):
    """Two evaluations of a task, and the causes of their difference."""

    task: Task
    before: EvaluationTables
    after: EvaluationTables
    causes: list[Cause]
    stale: tuple[str, ...] = ()  # sides that are not current, with the reason

    @property
    def effects(self) -> list[Comparison]:
        """Effect on the primary metric; empty without scores of both."""
        sides = (Side(side.scores, side.metrics) for side in (self.before, self.after))
        return compare_sides(self.task, self.after.questions, *sides, slices=False)


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
        metric: Metric to compare; "": each task's primary metric.
        left_out: Receives the error of each task with a damaged table.

    Raises:
        UnknownNameError: If a name has no evaluation.
        SettingsError: If no task has both.
    """
    tasks = bench.catalog.tasks_of(suite) if suite else bench.catalog.tasks
    compared_model = model or next((one for one in (before, after) if _is_model(one, tasks)), "")
    old, new = (_sides(bench, named, tasks, compared_model, condition) for named in (before, after))
    for task in _common_tasks(bench, before, old, after, new):
        if metric and metric not in task.measures:
            continue
        try:
            sides = old[task.name](), new[task.name]()
        except TableError as error:
            left_out.append(error)
        else:
            reasons = [(side.name, stale_reason(bench, task, side.metrics)) for side in sides]
            stale = tuple(f"{name}: {reason}" for name, reason in reasons if reason)
            causes = decompose_difference(task, *sides, metric)
            yield EvaluationPair(task, *sides, causes, stale)


def _common_tasks(
    bench: Workbench, before: str, old: Collection[str], after: str, new: Collection[str]
) -> list[Task]:
    """Tasks with evaluations on both sides, in the order of ``old``.

    Raises:
        SettingsError: If there are none.
    """
    tasks = {task.name: task for task in bench.catalog.tasks}
    if not (both := [tasks[name] for name in old if name in new]):
        raise SettingsError(
            f"no task has both: {before} was evaluated on {', '.join(old) or 'none'}; {after} on"
            f" {', '.join(new) or 'none'}"
        )
    return both


def _sides(
    bench: Workbench, named: str, tasks: Sequence[Task], model: str, condition: str
) -> dict[str, Callable[[], EvaluationTables]]:
    """Map tasks to readers of their evaluation: a damaged table affects its own task only."""
    found = find_evaluations(named, bench.tables, tasks, model, condition)
    return {place.task.name: place.read for place in found}


def _is_model(named: str, tasks: Sequence[Task]) -> bool:
    conditions = {name for task in tasks for name in task.conditions}
    return not (named.endswith(".parquet") or named in conditions)
