"""Studies of CODIS: agreement of annotators and of judges, output variability and word bias.

* Agreement of two judges, as of people and GPT-4 in section 5.3 and Table 7; consistency of human
  labels, whose majority is the ground truth and whose ties a fifth person breaks (appendix A,
  Table 8).
* Output variability: how often an answer changes without the context (section 4.2, Table 4).
* Word bias: how often a model answers each of two opposite words (section 5.2, Table 6).
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.stats.rater_agreement import CriterionAgreement, agreements, majority
from bench_assets.core.tables.json_records import read_lines, records
from bench_assets.evaluation.task import AnsweredQuestion
from bench_assets.suites.codis.answers import (
    final_answer,
    has_phrase,
    normalize_text,
    read_answer,
)
from bench_assets.suites.codis.dataset import ContextPair, SubmissionVote
from bench_assets.suites.codis.scoring import CRITERION, image_cluster
from bench_assets.suites.codis.votes import CRITERIA, ballots_by_submission

PEOPLE = "people"  # name of the judge for human labels
_IDENTITY = ("question_id", "model", "annotator")  # fields that identify a label

Labels: TypeAlias = Sequence["JudgeLabel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLabel:
    """A person's verdict on a model's response (condition ``main``)."""

    question_id: str
    correct: bool
    model: str = ""  # "": the file is about one model
    annotator: str = ""
    tie_break: bool = False  # by the person who was asked only because the others were tied


def read_labels(file: Path) -> list[JudgeLabel]:
    """Read people's verdicts: JSON lines with the fields of ``JudgeLabel``.

    Raises:
        SourceError: If the file cannot be read, a line has other fields, or two lines have the same
            annotator, model and question; names file and line.
    """
    return records(read_lines(file), JudgeLabel, unique=_IDENTITY, closed=True).require()


def labels_of(model: str, labels: Labels) -> list[JudgeLabel]:
    """Keep the labels on one model's predictions, and those that name no model."""
    return [label for label in labels if label.model in (model, "")]


def majority_judgements(labels: Labels, predictions: Sequence[Prediction]) -> list[Judgement]:
    """Turn people's verdicts on one model's predictions into judgements, by majority.

    Failed predictions, and those without labels, get no judgement.

    Raises:
        SourceError: If labels are tied without a tie-break, or if a label is about a
            question that was not asked; names the question.
    """
    question_ids = {prediction.question_id for prediction in predictions}
    if strange := sorted({label.question_id for label in labels} - question_ids):
        raise SourceError(f"human labels: {len(strange)} unknown questions, such as {strange[0]}")
    by_question = _by_question(labels)
    return [
        Judgement.of(
            prediction,
            judge=PEOPLE,
            criterion=CRITERION,
            verdict=_decided_verdict(question_labels),
            response=(
                f"{sum(label.correct for label in question_labels)} of {len(question_labels)} say"
                " right"
            ),
        )
        for prediction in predictions
        if not prediction.error and (question_labels := by_question.get(prediction.question_id))
    ]


def agreement(first: Sequence[Judgement], second: Sequence[Judgement]) -> Mean:
    """Share of the queries both judged on which two judges agree (section 5.3, Table 7).

    A query on which either was unreadable is unscored.
    """
    verdicts = {_judgement_key(j): j.verdict for j in first if j.criterion == CRITERION}
    second_verdicts = [(_judgement_key(j), j.verdict) for j in second if j.criterion == CRITERION]
    pairs = [(verdicts[key], verdict) for key, verdict in second_verdicts if key in verdicts]
    return mean(
        ScoredPoint(None if pair is None or other_look is None else float(pair == other_look))
        for pair, other_look in pairs
    )


def consistency(labels: Labels) -> Mean:
    """Share of single verdicts on one model that equal the majority's (equation of appendix A).

    The verdict that broke a tie decides, but is not itself counted. For the interval, the verdicts
    on one response are a cluster.

    Raises:
        SourceError: If labels are tied without a tie-break; names the question.
    """
    return mean(
        ScoredPoint(float(label.correct == truth), question_id)
        for question_id, question_labels in _by_question(labels).items()
        for truth in [_decided_verdict(question_labels)]
        for label in question_labels
        if not label.tie_break
    )


def _by_question(labels: Labels) -> dict[str, list[JudgeLabel]]:
    groups: dict[str, list[JudgeLabel]] = defaultdict(list)
    for label in labels:
        groups[label.question_id].append(label)
    return groups


def _decided_verdict(labels: Labels) -> bool:
    votes = [label.correct for label in labels if not label.tie_break]
    if (verdict := majority(votes)) is not None:
        return verdict
    breaking = [label.correct for label in labels if label.tie_break]
    if len(breaking) != 1:
        raise SourceError(
            f"human labels: {labels[0].question_id}: {votes.count(True)} say right and "
            f'{votes.count(False)} wrong; add one more person\'s label with "tie_break": true'
        )
    return breaking[0]


def _judgement_key(judgement: Judgement) -> tuple[str, str, str, int]:
    return judgement.question_id, judgement.model, judgement.condition, judgement.sample


def output_variability(
    questions: Sequence[Question],
    with_context: Sequence[Prediction],
    without_context: Sequence[Prediction],
) -> Mean:
    """Share of queries that a model answers differently without the context (section 4.2).

    The paper has people compare the outputs; here the parsed answers are compared. A query without
    both responses is unscored.

    Args:
        questions: The queries to average over; predictions for others are ignored.
        with_context: One model's predictions under ``main``.
        without_context: The same model's predictions under ``no_context``.
    """
    by_id = {question.question_id: question for question in questions}
    with_by_key, without_by_key = (
        {(p.question_id, p.sample): p for p in predictions if p.question_id in by_id}
        for predictions in (with_context, without_context)
    )
    return mean(
        ScoredPoint(
            _answers_differ(by_id[key[0]], with_by_key.get(key), without_by_key.get(key)),
            image_cluster(by_id[key[0]]),
        )
        for key in sorted(with_by_key.keys() | without_by_key.keys())
    )


def _answers_differ(
    question: Question, given: Prediction | None, taken_away: Prediction | None
) -> float | None:
    if given is None or taken_away is None or given.error or taken_away.error:
        return None
    answer_given, answer_without = (
        normalize_text(read_answer(question, p.text)) for p in (given, taken_away)
    )
    return float(answer_given != answer_without)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordCount:
    """Expected and observed counts of one word of a pair of opposites."""

    model: str
    condition: str
    word: str
    opposite: str
    n_queries: int  # answered queries whose ground truth has the word or its opposite
    in_ground_truth: int  # of these, those whose ground truth has the word
    in_predictions: int  # of these, those whose final answer has the word


def word_bias(
    answered: Sequence[AnsweredQuestion], word_pairs: Iterable[tuple[str, str]]
) -> list[WordCount]:
    """Count whole words in the final answers of one model; two rows for each pair of words.

    A word inside its longer opposite ("appropriate" in "not appropriate") is not counted. A query
    that was not answered is left out, and an answer with both words counts for both.
    """
    responded = [pair for pair in answered if not pair.prediction.error]
    return [
        _count(responded, word, opposite)
        for pair in word_pairs
        for word, opposite in (pair, pair[::-1])
        if responded
    ]


def _count(answered: Sequence[AnsweredQuestion], word: str, opposite: str) -> WordCount:
    expected = [_has_word(" ".join(q.answer), word, opposite) for q, _ in answered]
    other_expected = [_has_word(" ".join(q.answer), opposite, word) for q, _ in answered]
    predicted = [_has_word(final_answer(p.text), word, opposite) for _, p in answered]
    relevant = [
        answer or other_answer
        for answer, other_answer in zip(expected, other_expected, strict=True)
    ]
    return WordCount(
        model=answered[0].prediction.model,
        condition=answered[0].prediction.condition,
        word=word,
        opposite=opposite,
        n_queries=sum(relevant),
        in_ground_truth=sum(expected),
        in_predictions=sum(s and a for s, a in zip(predicted, relevant, strict=True)),
    )


def _has_word(text: str, word: str, opposite: str) -> bool:
    words, sought, longer = normalize_text(text), normalize_text(word), normalize_text(opposite)
    if has_phrase(sought, longer):
        words = words.replace(longer, " ")
    return has_phrase(sought, words)


def vote_agreement(
    submissions: Sequence[ContextPair], votes: Iterable[SubmissionVote]
) -> list[CriterionAgreement]:
    """Agreement on each condition, and on "all": the approval, all three conditions at once."""
    ballots = list(ballots_by_submission(submissions, votes).values())
    units = {name: [[getattr(v, name) for v in cast] for cast in ballots] for name in CRITERIA}
    return agreements({**units, "all": [[vote.approves for vote in cast] for cast in ballots]})
