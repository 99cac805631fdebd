"""Responses recorded elsewhere, from a file of JSON lines.

One object a line: ``question_id`` and ``text``; optionally ``model``, ``condition`` ("main"),
``sample`` (0), and ``judge_response`` for the judge named "recorded". Blank lines are skipped;
unknown fields are errors.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError, SettingsError, SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.json_records import read_lines, records
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import RecordedSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedResponse:
    """A line of the file."""

    where: str  # "responses.jsonl, line 3", for messages
    question_id: str
    text: str
    model: str = ""
    condition: str = "main"
    sample: int = 0
    judge_response: str = ""  # the judge's response about this response; "" without one


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseReport:
    """How responses match questions; ids are in order of appearance."""

    n_used: int
    missing: tuple[str, ...]  # questions without a response
    unknown: tuple[str, ...]  # question ids of responses without a question
    surplus: tuple[str, ...]  # questions with a response of a sample number that is not drawn


def read_responses(path: Path) -> list[RecordedResponse]:
    """Read a file of responses, in order.

    Raises:
        SourceError: If the file cannot be read or has no lines, a line is not an object with the
            fields of ``RecordedResponse``, or two lines have the same question, model, condition
            and sample.
    """
    responses = records(read_lines(path), RecordedResponse, closed=True).require()
    by_identity: dict[tuple[str, str, str, int], RecordedResponse] = {}
    for response in responses:
        earlier = by_identity.setdefault(_identity(response), response)
        if earlier is not response:
            is_same = replace(response, where=earlier.where) == earlier
            where = f"in {earlier.where} already" if is_same else f"differently in {earlier.where}"
            problem = f"{response.question_id} is answered {where}. Keep one"
            raise SourceError(f"{response.where}: {problem}")
    if not responses:
        raise SourceError(f"{path}: no responses (expected a JSON object on each line)")
    return responses


def group_by_model(
    responses: Sequence[RecordedResponse], nameless: str
) -> dict[str, list[RecordedResponse]]:
    """Group responses by model, in order; those without a name belong to ``nameless``."""
    grouped: dict[str, list[RecordedResponse]] = defaultdict(list)
    for response in responses:
        grouped[response.model or nameless].append(response)
    return dict(grouped)


def compare_ids(
    questions: Sequence[Question], responses: Sequence[RecordedResponse], samples: int = 1
) -> ResponseReport:
    """Compare the ids of responses of one model and condition with those of the questions.

    ``samples`` responses are drawn for a question; it is missing if it has fewer.
    """
    question_ids = dict.fromkeys(question.question_id for question in questions)
    matching = [response for response in responses if response.question_id in question_ids]
    unknown = [
        response.question_id for response in responses if response.question_id not in question_ids
    ]
    surplus = [response for response in matching if response.sample >= samples]
    counts = Counter(response.question_id for response in matching if response.sample < samples)
    return ResponseReport(
        n_used=counts.total(),
        missing=tuple(id for id in question_ids if counts[id] < samples),
        unknown=tuple(dict.fromkeys(unknown)),
        surplus=tuple(dict.fromkeys(response.question_id for response in surplus)),
    )


class _RecordedAnswers:
    """Looks responses up by question and sample number."""

    is_promptless: Literal[True] = True

    def __init__(self, name: str, responses: Mapping[tuple[str, int], str], file: Path) -> None:
        self.name = name
        self.signature = f"recorded|{file.name}"
        self._responses = responses
        self._file = file

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request in order; a missing response has ``error``."""
        return [self._find(request) for request in requests]

    def _find(self, request: Request) -> Response:
        question_id = request.question.question_id if request.question else request.name
        if not question_id:
            raise ModelError(f"{self.name}: recorded responses need question ids")
        text = self._responses.get((question_id, request.sample))
        if text is None:
            return Response(error=f"no recorded response in {self._file}")
        return Response(text=text, finish_reason="stop")


class RecordedModel(_RecordedAnswers):
    """Answers with the ``text`` of a file's lines."""

    def __init__(
        self, name: str, responses: Sequence[RecordedResponse], file: Path, condition: str = "main"
    ) -> None:
        """Keep the responses of one condition; all are of one model, see ``group_by_model``."""
        chosen = [response for response in responses if response.condition == condition]
        super().__init__(name, {(r.question_id, r.sample): r.text for r in chosen}, file)


class EvaluatedModel(RecordedModel):
    """A model of bench.toml with recorded responses; an error if none of them matches."""

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request in order; a missing response has ``error``.

        Raises:
            ModelError: If all are missing.
        """
        responses = super().response(requests)
        if responses and all(response.error for response in responses):
            recorded_ids = [question_id for question_id, _ in self._responses]
            hint = f"; it has one to {recorded_ids[0]!r}" if recorded_ids else ""
            raise ModelError(
                f"{self.name}: {self._file} has no response to any of {len(responses)} requests"
                f"{hint}"
            )
        return responses


class RecordedJudge(_RecordedAnswers):
    """A judge that returns the ``judge_response`` recorded beside each response."""

    def __init__(
        self, name: str, responses: Sequence[RecordedResponse], file: Path, condition: str = "main"
    ) -> None:
        """Keep the judge's responses under one condition; all are of one model."""
        chosen = [r for r in responses if r.condition == condition and r.judge_response]
        super().__init__(name, {(r.question_id, r.sample): r.judge_response for r in chosen}, file)


def open_recorded(
    name: str, spec: RecordedSpec, settings: Settings, condition: str
) -> EvaluatedModel | RecordedJudge:
    """Open recorded responses as a model or a judge; raises as ``read_recorded``."""
    responses, file = read_recorded(name, spec, settings)
    if spec.field == "judge_response":
        return RecordedJudge(name, responses, file, condition)
    return EvaluatedModel(name, responses, file, condition)


def read_recorded(
    name: str, spec: RecordedSpec, settings: Settings
) -> tuple[list[RecordedResponse], Path]:
    """Read the recorded responses of a model; returns them and the file.

    Raises:
        SettingsError: If the file has no such model, or several and none is named.
        SourceError: As ``read_responses``.
    """
    file = settings.resolve(spec.file)
    by_model = group_by_model(read_responses(file), nameless=spec.model or name)
    if not spec.model and len(by_model) == 1:
        (responses,) = by_model.values()
    elif spec.model in by_model:
        responses = by_model[spec.model]
    else:
        raise SettingsError(
            f"{settings.file}, model {name}: set model to one of {file}, which has"
            f" {', '.join(sorted(by_model))}"
        )
    return responses, file


def _identity(response: RecordedResponse) -> tuple[str, str, str, int]:
    return response.question_id, response.model, response.condition, response.sample
