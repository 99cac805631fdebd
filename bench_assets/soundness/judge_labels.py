"""People's verdicts on models' replies, beside which a judge's are laid."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.asking import at_last
from bench_assets.core.json_entries import read_lines
from bench_assets.core.records import records
from bench_assets.core.rows import Judgement, Prediction, Question
from bench_assets.soundness.judge_trials import said_of
from bench_assets.task import Task

_HALF = 0.5  # of a reply's points, above which it is called right


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonsLabel:
    """One person's verdict on a model's reply to one question."""

    question_id: str
    correct: bool
    model: str = ""  # "": whichever model is looked at
    annotator: str = ""


def read_labels(file: Path) -> list[PersonsLabel]:
    """Read people's verdicts: JSON lines; other fields than these four are left aside.

    Raises:
        SourceError: If the file cannot be read, or a line is no such object or repeats another
            one's annotator, model and question; names file and line.
    """
    return records(read_lines(file), PersonsLabel, unique=("question_id", "model", "annotator"))


def beside_people(
    task: Task,
    questions: Mapping[str, Question],
    predictions: Sequence[Prediction],
    judgements: Iterable[Judgement],
    labels: Iterable[PersonsLabel],
) -> list[tuple[bool, bool]]:
    """Pair what people say of one model's replies with what the judge says.

    People decide by majority; replies on which they are divided are left out, and those on which
    the judge says nothing readable.

    Returns:
        What people say, and what the judge says, of each reply.
    """
    votes: dict[str, Counter[bool]] = defaultdict(Counter)
    for label in labels:
        votes[label.question_id][label.correct] += 1
    heard: dict[tuple[str, int], list[Judgement]] = defaultdict(list)
    for row in at_last(list(judgements)):
        if not row.criterion.endswith("thoughts included"):
            heard[row.question_id, row.sample].append(row)
    pairs = []
    for said in predictions:
        cast, about = votes[said.question_id], heard[said.question_id, said.sample]
        if said.error or not about or cast[True] == cast[False]:
            continue
        share = said_of(task, questions[said.question_id], said, about)
        if share is not None:
            pairs.append((cast[True] > cast[False], share > _HALF))
    return pairs
