"""Responses that were generated elsewhere, evaluated as those of a recorded model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_assets.core.schema.errors import SourceError
from bench_assets.evaluation.task import Task
from bench_resources.models.registry.locations import locate_responses
from bench_resources.models.registry.named_models import ResolvedModel
from bench_resources.models.registry.recorded import (
    RecordedResponse,
    ResponseReport,
    compare_ids,
    group_by_model,
    read_responses,
)

if TYPE_CHECKING:
    from bench_assets.workspace.materialization.workbench import Workbench
    from bench_resources.config.bench_toml import Settings

JUDGE = "recorded"
"""Judge whose verdicts are in the file, beside the responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedFile:
    """The responses of one model in a file."""

    file: Path
    resolved: ResolvedModel
    responses: Sequence[RecordedResponse]

    @property
    def model(self) -> str:
        """Name of the model in the home."""
        return self.resolved.name

    @property
    def conditions(self) -> list[str]:
        """The conditions of the responses, in order of appearance."""
        return list(dict.fromkeys(response.condition for response in self.responses))

    @property
    def sections(self) -> dict[str, Mapping[str, Any]]:
        """Sections of the model, and of the judge that returns the verdicts in the file."""
        section = self.resolved.section or self.resolved.spec.model_dump()
        return {self.model: section, JUDGE: {**section, "field": "judge_response"}}


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedResponses:
    """Match of one model's responses under one condition to the questions of a task."""

    recorded: RecordedFile
    task: Task
    condition: str
    n_questions: int
    report: ResponseReport

    def __str__(self) -> str:
        """Format the numbers of used, missing and unknown responses, one per line."""
        file, counts = self.recorded.file, self.report
        lines = [f"{file}: {counts.n_used} responses of {self.recorded.model} used"]
        for label, question_ids in {
            f"of {self.n_questions} questions have no response": counts.missing,
            "responses to unknown questions left out": counts.unknown,
            "responses beyond the samples of the condition left out": counts.surplus,
        }.items():
            if question_ids:
                examples = ", ".join(question_ids[:3])
                lines.append(f"  {len(question_ids)} {label}, such as {examples}")
        return "\n".join(lines)


def read_recorded_files(file: Path, settings: "Settings") -> list[RecordedFile]:
    """Read a file of responses, model by model; those without a model get the file's name.

    Raises:
        SourceError: If it cannot be used; names the line.
    """
    files = []
    for name, responses in sorted(group_by_model(read_responses(file), file.stem).items()):
        model = locate_responses(file, name, settings)
        files.append(RecordedFile(file=file, resolved=model, responses=responses))
    return files


def match_responses(
    bench: "Workbench", tasks: Sequence[Task], recorded: RecordedFile
) -> Iterator[MatchedResponses]:
    """Compare a model's responses with the questions of each task and condition."""
    for task in tasks:
        for condition in recorded.conditions:
            questions = bench.questions(task, condition)
            responses = [
                response for response in recorded.responses if response.condition == condition
            ]
            yield MatchedResponses(
                recorded=recorded,
                task=task,
                condition=condition,
                n_questions=len(questions),
                report=compare_ids(questions, responses, task.condition(condition).samples),
            )


def require_matches(file: Path, suite: str, matches: Sequence[MatchedResponses]) -> None:
    """Refuse a file without any usable response, because empty metrics would look like a result.

    Raises:
        SourceError: If no response of the file answers a question of the suite.
    """
    reports = [match.report for match in matches]
    if any(counts.n_used for counts in reports):
        return
    unknown = [name for counts in reports for name in counts.unknown]
    example = f", such as {unknown[0]!r}" if unknown else ""
    raise SourceError(
        f"{file}: no response answers a question of {suite}: {len(set(unknown))} unknown"
        f" question_ids{example}. Print the questions with `bench tables questions {suite}`"
    )
