"""Requirements to reproduce a number, and whether they are met here.

A number can be reproduced from cached responses, found by its signature, without weights, servers
or keys.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.bundles.contents import suite_distribution
from bench_assets.comparison.causes import split_model_part
from bench_assets.core.reading.reasoning import Tags
from bench_assets.core.schema.chat import NOT_CACHED, Request, Response
from bench_assets.core.schema.elicitation import (
    LIKELIHOOD,
    elicited_decoding,
    set_temperature,
    split_signature,
)
from bench_assets.core.schema.errors import SettingsError, TableError, UnknownNameError
from bench_assets.core.schema.provenance import response_key
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import Signature, short_digest
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.tables.parquet import TableFiles

if TYPE_CHECKING:
    from bench_resources.response_cache.store import ResponseStore

_CHECK_OUT = "check out the code that measured it"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRequirement:
    """One input that a number requires, and what is found here."""

    part: str
    takes: str  # required
    here: str  # found
    missing: str = ""  # what to do; "" if the requirement is met


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberRef:
    """A number to reproduce, with its present tables."""

    task: Task
    signature: Signature
    model: str
    metrics: Sequence[Metric]
    tables: TableFiles  # of the source that it was measured on

    @property
    def text(self) -> str:
        """Its signature as it is written."""
        return self.metrics[0].signature


def find_number(bench: Workbench, task_name: str, model: str, condition: str) -> NumberRef:
    """Find the number of a model, on any source.

    Raises:
        UnknownNameError: If there is no such task or condition, or the model was not evaluated.
        SettingsError: If a suite of several tasks is named, unless only one has the condition.
    """
    candidates = bench.catalog.tasks_of(task_name)
    tasks = [task for task in candidates if condition in task.conditions] or candidates
    if len(tasks) > 1:
        names = ", ".join(task.name for task in tasks)
        raise SettingsError(
            f"{task_name}: expected a task, got a suite of several. Name one: {names}"
        )
    task = tasks[0]
    task.condition(condition)  # raises if the task does not have it
    key = evaluation_key(task, condition, "metrics")
    sources = [bench.tables, *bench.tables.elsewhere(task.suite)]
    for tables in sources:
        rows = tables.read(key, Metric, model) if tables.exists(key, model) else []
        if rows:
            return NumberRef(
                task=task,
                signature=Signature.parse(rows[0].signature),
                model=model,
                metrics=rows,
                tables=tables,
            )
    evaluated_models = {name for tables in sources for name in tables.partitions(key)}
    raise UnknownNameError(f"model evaluated on {task.name}, {condition},", model, evaluated_models)


def task_requirements(number: NumberRef) -> list[BundleRequirement]:
    """Compare the task's version and parts with the signature."""
    signature, task = number.signature, number.task
    signed = "+".join((signature.task, *signature.extensions))
    installed = "+".join((task.name, *task.extensions))
    scorer = signature.parts.get("scorer", "")
    return [
        _requirement(
            part="task", takes=signed, here=installed, remedy="install the same extensions"
        ),
        _requirement(
            part="version",
            takes=f"v{signature.version}",
            here=f"v{task.version}",
            remedy=f"{_CHECK_OUT} (here is {suite_distribution(task.suite) or task.suite})",
        ),
        _requirement(
            part="scorer",
            takes=scorer,
            here=scorer if scorer in task.scorers else f"only {', '.join(task.scorers)}",
            remedy=_CHECK_OUT,
        ),
    ]


def question_requirements(
    number: NumberRef, sources: Sequence[TableFiles]
) -> tuple[list[Question], list[BundleRequirement]]:
    """Find the questions with the signature's digest, or [], and compare their requirements."""
    signature, task = number.signature, number.task
    key = questions_key(task, signature.condition)
    signed_digest = signature.parts.get("data", "")
    tables_by_digest = {}
    for tables in sources:
        with suppress(TableError):  # damaged: treated as missing
            if digest := tables.digest(key):
                tables_by_digest[short_digest(digest)] = tables
    available = ", ".join(tables_by_digest) or "none"
    command = f"bench tables questions {task.suite}"
    if key != evaluation_key(task, "main", "questions"):
        command = (
            f"bench evaluate {task.name} --condition {signature.condition} --model NAME --dry-run"
        )
    if signed_digest not in tables_by_digest:
        remedy = f"`{command}` builds them from bench.toml's source, or from --source FOLDER"
        return [], [
            BundleRequirement(part="questions", takes=signed_digest, here=available, missing=remedy)
        ]
    questions = tables_by_digest[signed_digest].read(key, Question)
    return questions, [
        BundleRequirement(
            part="questions", takes=signed_digest, here=f"{signed_digest}, {len(questions)} of them"
        ),
        *_prompt_requirements(number, questions),
    ]


def _prompt_requirements(
    number: NumberRef, questions: Sequence[Question]
) -> Iterator[BundleRequirement]:
    """Render and digest the prompts, as the pipeline does; encoders have none."""
    if number.task.asked_of != "model":
        return
    condition = number.task.condition(number.signature.condition)
    sent = sorted(condition.prompt(question).sha256 for question in questions)
    rendered = hashlib.sha256("\n".join(sent).encode()).hexdigest()[:12]
    yield _requirement(
        part="prompts",
        takes=number.signature.parts.get("prompts", ""),
        here=rendered,
        remedy=f"the prompts differ, or not all of them were sent: {_CHECK_OUT}",
    )


def _requirement(*, part: str, takes: str, here: str, remedy: str) -> BundleRequirement:
    """A requirement that is met if ``here`` is what the number takes."""
    return BundleRequirement(
        part=part, takes=takes, here=here, missing="" if takes == here else remedy
    )


_THINKING = "|thinking="


class CachedResponseModel:
    """Answers requests from cached responses; a missing response has an error."""

    def __init__(self, name: str, signature: str, store: "ResponseStore") -> None:
        """Parse the part ``model`` of a signature."""
        model_part, elicitation = split_signature(signature)
        self.name, self.signature = name, model_part
        self.elicits = (LIKELIHOOD,) if elicitation else ()
        base_part, _, tags = model_part.partition(_THINKING)
        opening, _, closing = tags.partition(" ")
        self._tags: Tags | None = (opening, closing) if closing else None
        self._identity, self._decoding = split_model_part(base_part)
        self._store = store

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order."""
        keys = [self._key(request) for request in requests]
        cached = self._store.find(list(dict.fromkeys(keys)))
        return [
            replace(cached[key], thinking_tags=self._tags)
            if key in cached
            else Response(error=NOT_CACHED)
            for key in keys
        ]

    def _key(self, request: Request) -> str:
        """The key under which ``CachingModel`` stores the response."""
        decoding = set_temperature(self._decoding, request.temperature)
        decoding = elicited_decoding(decoding, request.elicit)
        return response_key(self._identity, decoding, request)
