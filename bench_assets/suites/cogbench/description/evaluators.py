"""Accuracy of automatic evaluators against human labels of key points (section 3.3.4, Table 4).

An evaluator decides whether a description mentions a key point. A numeric evaluator needs a
threshold: the most accurate one on one half of the images. All accuracies are those on the other
half. As in appendix F, the number of a description is the highest of its sentences.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import nan
from pathlib import Path
from typing import NamedTuple, TypeAlias

from bench_assets.core.extras import require_extra
from bench_assets.core.schema.chat import TextEncoder
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.tables.json_records import read_lines, records
from bench_assets.core.text.sentences import split_sentences
from bench_assets.evaluation.aggregation import blank_metric, format_decodings
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.cogbench.description.questions import key_points
from bench_assets.suites.cogbench.description.scoring import judge_by_rules
from bench_assets.suites.cogbench.description.task import TASK

ScorePairs: TypeAlias = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""For each pair of a sentence and a key point, how far the sentence states it."""

NO_WEIGHTS = "not run: no weights of it can be had from a package index"
NO_VALIDATION_LABELS = "not run: no label is of an image that thresholds are chosen on"
NOT_RUN = {
    "BERTScore": NO_WEIGHTS,
    "BLEURT": NO_WEIGHTS,
    "DocNLI": f"{NO_WEIGHTS}; nli_model takes its place, sentence by sentence",
    "GPT-3.5": "not run: a hosted model of 2023; the row of the judge that bench.toml names takes "
    "its place",
}
"""The paper's evaluators that cannot be run here: the reason, and the substitute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionLabel:
    """A person's verdict on a key point of a description."""

    question_id: str
    criterion: str  # "event/2"
    mentioned: bool
    model: str = ""  # "" for the descriptions of any model


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorAccuracy:
    """Accuracy of one automatic evaluator against human labels."""

    evaluator: str
    status: str  # "run", or why it was not
    accuracy: float  # on the testing half; NaN if it was not run
    low: float
    high: float
    n: int  # key points of the testing half that the evaluator decided
    n_undecided: int
    threshold: float | None  # above it a key point is mentioned; None if no number is involved
    n_choosing: int  # key points of the half that the threshold was chosen on


class LabelRow(NamedTuple):
    """A key point with its human label."""

    pair: AnsweredQuestion
    criterion: str
    text: str
    mentioned: bool


def read_labels(file: Path) -> list[MentionLabel]:
    """Read people's verdicts: JSON lines with the fields of ``MentionLabel``, ``model`` optional.

    Raises:
        SourceError: If the file cannot be read, or a line is not such an object or repeats another;
            names file and line.
    """
    return records(
        read_lines(file), MentionLabel, unique=("question_id", "criterion", "model")
    ).require()


def labelled_points(
    questions: Iterable[Question],
    answered: Iterable[AnsweredQuestion],
    labels: Iterable[MentionLabel],
) -> list[LabelRow]:
    """Find the labelled key points of descriptions, in the order of the labels.

    Labels of an image without a description, because the request failed, are left out.

    Raises:
        SourceError: If there is no key point for a label.
    """
    pairs = {pair.question.question_id: pair for pair in answered}
    points = {
        (question.question_id, point.criterion): point.text
        for question in questions
        for point in key_points(question)
    }
    labelled = []
    for label in labels:
        if (name := (label.question_id, label.criterion)) not in points:
            raise SourceError(
                f"human labels: no key point {label.criterion} of {label.question_id}"
            )
        if pair := pairs.get(label.question_id):
            labelled.append(LabelRow(pair, label.criterion, points[name], label.mentioned))
    return labelled


def evaluate_by_threshold(
    evaluator: str, points: Sequence[LabelRow], score: ScorePairs
) -> EvaluatorAccuracy:
    """Evaluate by a number: the highest of any sentence, above a threshold chosen on one half."""
    numbers = best_scores(points, score)
    choosing = [
        (number, point.mentioned)
        for number, point in zip(numbers, points, strict=True)
        if not is_test_point(point)
    ]
    if not choosing:
        return skipped_evaluator(evaluator, NO_VALIDATION_LABELS)
    threshold = best_threshold(choosing)
    verdicts = [number > threshold for number in numbers]
    return _accuracy(evaluator, points, verdicts, threshold)


def evaluate_by_verdict(
    evaluator: str, points: Sequence[LabelRow], judgements: Iterable[Judgement]
) -> EvaluatorAccuracy:
    """Evaluate by a judge's verdicts, without a threshold."""
    by_criterion = {(row.question_id, row.criterion): row.verdict for row in judgements}
    verdicts = [by_criterion.get((p.pair.question.question_id, p.criterion)) for p in points]
    return _accuracy(evaluator, points, verdicts, None)


def evaluate_by_rules(points: Sequence[LabelRow]) -> EvaluatorAccuracy:
    """Evaluate by the rules that need no model."""
    pairs = {point.pair.question.question_id: point.pair for point in points}
    return evaluate_by_verdict("rules", points, judge_by_rules(list(pairs.values())))


def skipped_evaluator(evaluator: str, why: str) -> EvaluatorAccuracy:
    """A row for an evaluator that was not run, with the reason."""
    return EvaluatorAccuracy(
        evaluator=evaluator,
        status=why,
        accuracy=nan,
        low=nan,
        high=nan,
        n=0,
        n_undecided=0,
        threshold=None,
        n_choosing=0,
    )


def rouge_recall(pairs: Sequence[tuple[str, str]]) -> list[float]:
    """ROUGE-L recall of a key point by a sentence, stemmed."""
    require_extra("ROUGE as an evaluator", "rouge_score")
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return [float(scorer.score(point, sentence)["rougeL"].recall) for sentence, point in pairs]


def cosine_scorer(encoder: TextEncoder) -> ScorePairs:
    """Cosine of the embeddings of a sentence and a key point; ours, not among the paper's."""

    def score(pairs: Sequence[tuple[str, str]]) -> list[float]:
        sentences, points = (encoder.encode_texts(side) for side in zip(*pairs, strict=True))
        return [float(cosine) for cosine in (sentences * points).sum(axis=1)]

    return score


def best_scores(points: Sequence[LabelRow], score: ScorePairs) -> list[float]:
    """Highest number of any sentence, for each key point; 0 for an empty description."""
    pairs = [
        (number, sentence, point.text)
        for number, point in enumerate(points)
        for sentence in split_sentences(point.pair.prediction.text)
    ]
    best: Mapping[int, list[float]] = {number: [0.0] for number in range(len(points))}
    if pairs:
        scores = score([(sentence, text) for _, sentence, text in pairs])
        for (number, _, _), value in zip(pairs, scores, strict=True):
            best[number].append(value)
    return [max(best[number]) for number in range(len(points))]


def best_threshold(choosing: Sequence[tuple[float, bool]]) -> float:
    """Threshold with the highest accuracy, the lowest of several; above it is a yes.

    >>> best_threshold([(0.1, False), (0.4, False), (0.6, True)])
    0.4
    """

    def n_right(threshold: float) -> int:
        return sum((number > threshold) == mentioned for number, mentioned in choosing)

    candidates = sorted({-1.0, *(number for number, _ in choosing)})
    return max(candidates, key=n_right)


def is_test_point(point: LabelRow) -> bool:
    """Whether a key point's image is in the testing half, drawn by a hash of its id."""
    return sha256(point.pair.question.group_id.encode()).digest()[0] % 2 == 1


def _accuracy(
    evaluator: str,
    points: Sequence[LabelRow],
    verdicts: Sequence[bool | None],
    threshold: float | None,
) -> EvaluatorAccuracy:
    tested = [
        ScoredPoint(
            None if verdict is None else float(verdict == p.mentioned), p.pair.question.group_id
        )
        for p, verdict in zip(points, verdicts, strict=True)
        if is_test_point(p)
    ]
    accuracy: Mean = mean(tested)
    return EvaluatorAccuracy(
        evaluator=evaluator,
        status="run",
        accuracy=accuracy.value,
        low=accuracy.low,
        high=accuracy.high,
        n=accuracy.n_scored,
        n_undecided=accuracy.n_unscored,
        threshold=threshold,
        n_choosing=0 if threshold is None else len(points) - len(tested),
    )


def blank_row(
    model: str, questions: Sequence[Question], predictions: Sequence[Prediction], **how: str
) -> Metric:
    """A metric without a value; ``how`` are further parts of its signature."""
    parts = {"model": format_decodings(predictions), **how, "n": str(len(questions))}
    n_failed = len(questions) - sum(not p.error for p in predictions)
    return blank_metric(TASK, questions, model, parts, n_failed=n_failed)
