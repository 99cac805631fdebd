"""Requirements to reproduce a number, and whether they are met here.

A number can be reproduced from cached responses, found by its signature, without weights, servers
or keys.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bench_assets.asset_factory.evaluation_tables import evaluation_key, questions_key
from bench_assets.bundles.contents import suite_distribution
from bench_assets.catalog import Catalog
from bench_assets.comparison.causes import split_model_part
from bench_assets.core.reading.reasoning import Tags
from bench_assets.core.schema.chat import NOT_CACHED, Request, Response
from bench_assets.core.schema.elicitation import LIKELIHOOD, elicited_decoding, split_signature
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.provenance import response_key
from bench_assets.core.schema.rows import Metric, Question
from bench_assets.core.schema.signature import DRAWS, Signature, short_digest
from bench_assets.evaluation.task import Task
from bench_resources.tables.parquet import TableFiles

if TYPE_CHECKING:
    from bench_resources.response_cache.store import ResponseStore

_STEP_PARTS = {
    *("data", "prompts", DRAWS, "model", "judge", "scorer", "no_answer", "refused", "mixed", "n"),
}


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

    text: str  # its signature
    signature: Signature
    model: str  # its name here; "" if no table has it
    metrics: Sequence[Metric]  # () if only the signature is known
    tables: TableFiles  # of the source that it was measured on


def task_requirements(
    number: NumberRef, catalog: Catalog
) -> tuple[Task | None, list[BundleRequirement]]:
    """Find the task, and compare its version and parts with the signature."""
    signature = number.signature
    wanted = "+".join((signature.task, *signature.extensions))
    suite = signature.task.split("/")[0]
    task = next((task for task in catalog.tasks if task.name == signature.task), None)
    if task is None:
        remedy = f"install the package that provides {suite}, or write [benchmarks.{suite}]"
        return None, [
            BundleRequirement(part="task", takes=wanted, here="no such task", missing=remedy)
        ]
    installed = "+".join((task.name, *task.extensions))
    requirements = [
        _requirement("task", wanted, installed, "install the same extensions"),
        _requirement(
            "version",
            f"v{signature.version}",
            f"v{task.version}",
            f"check out the code that measured it (here is {suite_distribution(suite) or suite})",
        ),
        _choice_requirement(
            "condition", signature.condition, task.conditions, _study(signature, suite)
        ),
        _choice_requirement("scorer", signature.parts.get("scorer", ""), task.scorers, ""),
    ]
    if strange := [part for part in signature.parts if part not in _STEP_PARTS]:
        requirements.append(
            BundleRequirement(
                part="more",
                takes=", ".join(strange),
                here="measured outside the four steps",
                missing=f"`bench evaluate {task.name}` or `bench tables paper {suite}` measures it",
            )
        )
    return task, requirements


def question_requirements(
    number: NumberRef, task: Task, places: Sequence[TableFiles]
) -> tuple[list[Question], list[BundleRequirement]]:
    """Find the question table with the signature's digest, on any source."""
    signature, key = number.signature, questions_key(task, number.signature.condition)
    wanted = signature.parts.get("data", "")
    digests = {}
    for tables in places:
        try:
            digests[short_digest(tables.digest(key) or "")] = tables
        except TableError:
            digests[""] = tables  # damaged: treated as missing
    available = next(iter(digests), "") or "none"
    command = f"bench tables questions {task.suite}"
    if key != evaluation_key(task, "main", "questions"):
        command = (
            f"bench evaluate {task.name} --condition {signature.condition} --model NAME --dry-run"
        )
    if not wanted or wanted not in digests:
        remedy = f"`{command}` builds them from bench.toml's source, or from --source FOLDER"
        return [], [
            BundleRequirement(part="questions", takes=wanted, here=available, missing=remedy)
        ]
    questions = digests[wanted].read(key, Question)
    return questions, [
        BundleRequirement(
            part="questions", takes=wanted, here=f"{wanted}, {len(questions)} of them"
        ),
        *_prompts(number, task, questions),
    ]


def _prompts(
    number: NumberRef, task: Task, questions: Sequence[Question]
) -> Iterator[BundleRequirement]:
    """Render and digest the prompts, as the pipeline does; encoders have none."""
    if task.asked_of != "model":
        return
    condition = task.condition(number.signature.condition)
    sent = sorted(condition.prompt(question).sha256 for question in questions)
    rendered = hashlib.sha256("\n".join(sent).encode()).hexdigest()[:12]
    yield _requirement(
        "prompts",
        number.signature.parts.get("prompts", ""),
        rendered,
        "the prompts differ, or not all of them were sent: check out the code that measured it",
    )


def _study(signature: Signature, suite: str) -> str:
    return (
        f"a condition of a study: `bench tables paper {suite}` lists them"
        if "~" in signature.condition
        else ""
    )


def _requirement(part: str, takes: str, here: str, otherwise: str) -> BundleRequirement:
    return BundleRequirement(
        part=part, takes=takes, here=here, missing="" if takes == here else otherwise
    )


def _choice_requirement(
    part: str, takes: str, known: Iterable[str], otherwise: str
) -> BundleRequirement:
    names = list(known)
    if takes in names:
        return BundleRequirement(part=part, takes=takes, here=takes)
    listed = otherwise or "check out the code that measured it"
    return BundleRequirement(
        part=part, takes=takes, here=f"only {', '.join(names)}", missing=listed
    )


_THINKING = "|thinking="
_TEMPERATURE = re.compile(r"(?:(?<=^)|(?<=,))t=[^,]*")


class CachedResponseModel:
    """Answers requests from cached responses; a missing response has an error."""

    def __init__(self, name: str, signature: str, store: "ResponseStore") -> None:
        """Parse the part ``model`` of a signature."""
        model_part, elicitation = split_signature(signature)
        self.name, self.signature = name, model_part
        self._method = LIKELIHOOD if elicitation else ""
        base_part, _, tags = model_part.partition(_THINKING)
        opening, _, closing = tags.partition(" ")
        self._tags: Tags | None = (opening, closing) if closing else None
        self._identity, self._decoding = split_model_part(base_part)
        self._store = store

    @property
    def elicits(self) -> tuple[str, ...]:
        """Elicitation method of the responses, if any."""
        return (self._method,) if self._method else ()

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
        decoding = self._decoding
        if request.temperature is not None:
            temperature = f"t={request.temperature:g}"
            decoding = _TEMPERATURE.sub(temperature, decoding, count=1) if decoding else temperature
        decoding = elicited_decoding(decoding, request.elicit)
        return response_key(self._identity, decoding, request)
