"""Agreement of judges with people.

People saw a sample of responses, without the model and the judge's verdict. Their verdicts come
from annotation tables, or from a file (``bench audit judge --labels``).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import isnan
from pathlib import Path
from typing import NamedTuple

from bench_assets.annotation.responses.units import group_by_response
from bench_assets.annotation.responses.verdicts import PEOPLE, ResponseVerdict, majority_verdicts
from bench_assets.core.judging.verdict_requests import final_judgements
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.core.schema.signature import short_digest
from bench_assets.core.stats.means import Mean
from bench_assets.core.stats.rater_agreement import cohen_kappa, confusion_matrix
from bench_assets.core.tables.json_records import read_lines, records
from bench_assets.evaluation import measured_figures as names
from bench_assets.evaluation.measured_figures import JudgeFigure
from bench_assets.evaluation.runner import Runner, StoredResponses
from bench_assets.evaluation.task import Task

_RIGHT_THRESHOLD = 0.5  # share of points above which a response counts as called right


class LabelledResponses(NamedTuple):
    """A model's responses with the judges' verdicts."""

    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabel:
    """A person's verdict on a model's response to a question."""

    question_id: str
    correct: bool
    model: str = ""  # "": any model
    annotator: str = ""


def read_labels(file: Path) -> list[HumanLabel]:
    """Read people's verdicts from JSON lines; further fields are ignored.

    Raises:
        SourceError: If the file cannot be read, or a line is invalid, or a duplicate by annotator,
            model and question; names file and line.
    """
    return records(
        read_lines(file), HumanLabel, unique=("question_id", "model", "annotator")
    ).require()


def majority_labels(
    verdicts: Iterable[ResponseVerdict], predictions: Iterable[Prediction]
) -> list[HumanLabel]:
    """Majority labels of each response, for every model with the same text.

    Responses with a tie, or judged undecidable by most, have no label.
    """
    truth = majority_verdicts(verdicts)
    return [
        HumanLabel(
            question_id=row.question_id, correct=truth[key], model=row.model, annotator=PEOPLE
        )
        for key, rows in group_by_response(predictions).items()
        if key in truth
        for row in rows
    ]


def figures_of_labels(
    task: Task,
    questions: Mapping[str, Question],
    responses: Sequence[LabelledResponses],
    labels: Sequence[HumanLabel],
    at: str,
) -> list[JudgeFigure]:
    """Measure each judge of a task against people's labels.

    Args:
        task: The task.
        questions: Questions by id.
        responses: Responses of each model.
        labels: Labels of people.
        at: Time of the comparison.
    """
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    rows: dict[str, list[Judgement]] = defaultdict(list)
    for predictions, judged in responses:
        model = predictions[0].model if predictions else ""
        own_labels = [label for label in labels if label.model in ("", model)]
        for judge in dict.fromkeys(row.judge for row in judged if row.judge != PEOPLE):
            own = [row for row in judged if row.judge == judge]
            rows[judge] += own
            pairs[judge] += pair_with_labels(task, questions, predictions, own, own_labels)
    return [
        figure
        for judge, judge_pairs in pairs.items()
        if judge_pairs
        for figure in _figures(task, judge, judge_pairs, rows[judge], at)
    ]


def pair_with_labels(
    task: Task,
    questions: Mapping[str, Question],
    predictions: Sequence[Prediction],
    judgements: Iterable[Judgement],
    labels: Iterable[HumanLabel],
) -> list[tuple[bool, bool]]:
    """Pair people's majority verdicts on one model's responses with the judge's.

    Ties, questions that were removed since, and responses without a readable verdict of the judge
    are left out.

    Returns:
        Verdicts of people and of the judge on each response.
    """
    votes: dict[str, Counter[bool]] = defaultdict(Counter)
    for label in labels:
        votes[label.question_id][label.correct] += 1
    by_response: dict[tuple[str, int], list[Judgement]] = defaultdict(list)
    for row in final_judgements(list(judgements)):
        if not row.criterion.endswith("thoughts included"):
            by_response[row.question_id, row.sample].append(row)
    pairs = []
    for prediction in predictions:
        vote_counts, rows = (
            votes[prediction.question_id],
            by_response[prediction.question_id, prediction.sample],
        )
        question = questions.get(prediction.question_id)
        if (
            question is None
            or prediction.error
            or not rows
            or vote_counts[True] == vote_counts[False]
        ):
            continue
        share = judge_share(task, question, prediction, rows)
        if share is not None:
            pairs.append((vote_counts[True] > vote_counts[False], share > _RIGHT_THRESHOLD))
    return pairs


def judge_share(
    task: Task, question: Question, prediction: Prediction, judgements: Sequence[Judgement]
) -> float | None:
    """Share of points that a judge gives a response; None if unreadable.

    Several verdicts, such as one per key point, are combined by the task's scorer.
    """
    if len(judgements) == 1:
        return None if judgements[0].verdict is None else float(judgements[0].verdict)
    runner = Runner(task=task, responses=StoredResponses([prediction]))
    (score,) = runner.scores([question], [prediction], judgements)
    if score.points is None or not score.max_points:
        return None
    return score.points / score.max_points


def _figures(
    task: Task, judge: str, pairs: Sequence[tuple[bool, bool]], rows: Sequence[Judgement], at: str
) -> list[JudgeFigure]:
    """Kappa, precision and recall of a judge, without undefined ones."""
    kappa, table = cohen_kappa(pairs), confusion_matrix(pairs)
    means = {
        names.PEOPLE: Mean(kappa.value, kappa.low, kappa.high, kappa.n, 0),
        names.PRECISION: table.precision,
        names.RECALL: table.recall,
    }
    digests = sorted({row.prompt_sha256 for row in rows} - {""})
    return [
        JudgeFigure(
            task=task.name,
            judge=judge,
            setup="+".join(sorted({row.setup for row in rows})),
            prompts=short_digest(sha256("\n".join(digests).encode()).hexdigest()),
            at=at,
            figure=name,
            value=mean.value,
            low=mean.low,
            high=mean.high,
            n=mean.n_scored,
            about=str(table) if name == names.PEOPLE else "",
        )
        for name, mean in means.items()
        if not isnan(mean.value)
    ]
