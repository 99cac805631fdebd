"""Few-shot prompting: solved examples before each question, from rows that are not questions."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import chain

from bench_assets.core.schema.chat import Prompt
from bench_assets.core.schema.errors import ImageError, SettingsError, SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.file_benchmarks.prompts import SHOTS, PromptSettings, solved
from bench_assets.file_benchmarks.row_files import Row
from resources.config.sections.benchmarks import FileBenchmarkSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Shots:
    """Solved examples, as turns and by content id."""

    section: str
    turns: str = ""  # as ``Prompt.to_json`` writes them; "" for none
    rows: Mapping[str, str] = field(default_factory=dict)  # content id -> location of the row

    def before(self, question: Question, where: str) -> Question:
        """Put the examples before a question.

        Raises:
            SettingsError: If the question is one of them.
        """
        if not self.turns:
            return question
        if example := self.rows.get(content_id(question)):
            raise SettingsError(
                f"{self.section}, shots: {example} is the question of {where}. Examples must not "
                "be questions: take another file, or remove the row"
            )
        return replace(question, labels={**question.labels, SHOTS: self.turns})


def content_id(question: Question) -> str:
    """Derive an id from a question's content, without its answer, which may be corrected later."""
    asked = [question.text, question.context, question.options, question.images]
    return sha256(json.dumps(asked).encode()).hexdigest()[:12]


def read_shots(
    benchmark: FileBenchmarkSettings,
    section: str,
    rows: Iterable[Row],
    question_of: Callable[[Row, int], Question],
    settings: PromptSettings,
) -> Shots:
    """Read the solved examples: the first usable rows.

    Raises:
        SettingsError: If fewer than ``shots`` rows are usable.
    """
    found: dict[str, str] = {}
    turns, why = [], "the file is empty"
    for n, row in enumerate(rows):
        if len(found) == benchmark.shots:
            break
        try:
            question = question_of(row, n)
        except (SourceError, ImageError, SettingsError) as error:
            why = f"{row.where}: {error}"
            continue
        if found.setdefault(content_id(question), row.where) == row.where:
            turns.append(solved(question, settings))
    if len(found) < benchmark.shots:
        raise SettingsError(
            f"{section}, shots: expected {benchmark.shots} usable rows, got {len(found)} ({why})"
        )
    return Shots(
        section=section, turns=Prompt(tuple(chain.from_iterable(turns))).to_json(), rows=found
    )
