"""Causes of a score change: prompt, model, decoding, response, judge, scorer.

Every difference between the question and its points is a cause. Causes that act through the
response (prompt, model, decoding) are excluded if the response is the same but the points differ.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import isnan
from typing import NamedTuple, TypeVar

from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature

QUESTION_CHANGED, PROMPT, MODEL, DECODING = "question", "prompt", "model", "decoding"
RERUN, REASONING_REMOVED, TRUNCATED = (
    "asked again",
    "thoughts taken off",
    "cut off before an answer",
)
NO_RESPONSE, JUDGE, VERDICT = "no response", "judge", "judge's verdict"
SCORER, VERSION, REST = "scorer", "version of the task", "rest"
STAGES = (
    *(QUESTION_CHANGED, PROMPT, MODEL, DECODING, RERUN, NO_RESPONSE, TRUNCATED, REASONING_REMOVED),
    *(JUDGE, VERDICT, SCORER, VERSION, REST),
)
"""All causes, in the order of the pipeline."""

SEPARATOR = " + "
"""Joins causes that cannot be separated."""

_DECODING = re.compile(r"\|(?=t=-?\d)")
_PROMPT_FIELDS = {"kind", "text", "images", "image_texts", "options", "context"}
ORIGIN = {"edition", "task"}
"""Fields of a question that describe its origin, not its content."""


class QuestionRecord(NamedTuple):
    """A question with its predictions, judgements and scores."""

    question: Question
    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]
    scores: Sequence[Score]

    @property
    def share(self) -> float | None:
        """Share of the maximum points; None if that is 0, or a sample is unscored."""
        max_points = sum(score.max_points for score in self.scores)
        points = [score.points for score in self.scores if score.points is not None]
        if not max_points or len(points) < len(self.scores):
            return None
        return sum(points) / max_points

    @property
    def responses(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """Sample, text and ranking of each response, sample by sample."""
        return sorted((row.sample, row.text, row.ranking) for row in self.predictions)

    @property
    def points(self) -> list[tuple[int, float | None, float]]:
        """Sample, points and maximum points of each score, sample by sample."""
        by_sample = sorted(self.scores, key=lambda row: row.sample)
        return [(row.sample, row.points, row.max_points) for row in by_sample]


def find_causes(old: QuestionRecord, new: QuestionRecord, *, same_version: bool = True) -> str:
    """Name the possible causes of a change of a question's points; "" if nothing differs.

    Causes that cannot be separated are joined: ``model + scorer``.
    """
    if any(_field_values(old, "error")) != any(_field_values(new, "error")):
        return NO_RESPONSE
    same_response, same_points = old.responses == new.responses, old.points == new.points
    causes = _changed_inputs(old, new)
    if same_response and not same_points:
        causes = [cause for cause in causes if cause == QUESTION_CHANGED]
    if not (same_response or causes):
        raw_texts = _field_values(old, "raw_text")
        same_raw_text = any(raw_texts) and raw_texts == _field_values(new, "raw_text")
        causes = [REASONING_REMOVED if same_raw_text else RERUN]
    if _field_values(old, "no_answer") != _field_values(new, "no_answer"):
        causes.append(TRUNCATED)
    causes += _changed_readers(old, new, same_response=same_response)
    if not same_version:
        causes.append(VERSION)
    if not (causes or same_points):
        return REST
    return SEPARATOR.join(sorted(causes, key=STAGES.index))


def changed_fields(old: Question, new: Question) -> list[str]:
    """Name the fields in which two questions with the same id differ, except their origin."""
    names = [field.name for field in fields(Question) if field.name not in ORIGIN]
    return [name for name in names if getattr(old, name) != getattr(new, name)]


def split_model_part(model: str) -> tuple[str, str]:
    """Split a signature's model into identity and decoding.

    >>> split_model_part("sha256:0c,float32|t=0,max=40"), split_model_part("random|seed=0")
    (('sha256:0c,float32', 't=0,max=40'), ('random|seed=0', ''))
    """
    if match := _DECODING.search(model):
        return model[: match.start()], model[match.end() :]
    return model, ""


def _changed_inputs(old: QuestionRecord, new: QuestionRecord) -> list[str]:
    """Differing inputs of a response; a prompt that only follows its question does not count."""
    changed = changed_fields(old.question, new.question)
    prompt_follows = not _PROMPT_FIELDS.isdisjoint(changed)
    old_prompts, new_prompts = (_field_values(side, "prompt_sha256") for side in (old, new))
    old_models, old_decodings = _models_and_decodings(old)
    new_models, new_decodings = _models_and_decodings(new)
    differ = {
        QUESTION_CHANGED: bool(changed),
        PROMPT: old_prompts != new_prompts and not prompt_follows,
        MODEL: old_models != new_models,
        DECODING: old_decodings != new_decodings,
    }
    return [cause for cause, differs in differ.items() if differs]


def _models_and_decodings(record: QuestionRecord) -> tuple[set[str], set[str]]:
    pairs = [split_model_part(row.decoding) for row in record.predictions]
    return {model for model, _ in pairs}, {decoding for _, decoding in pairs}


def _changed_readers(old: QuestionRecord, new: QuestionRecord, *, same_response: bool) -> list[str]:
    """Differing parts that turn a response into points.

    Without judgements on one side, the judge counts as the same.
    """
    old_judges, new_judges = ({row.judge for row in side.judgements} for side in (old, new))
    other_judge = bool(old_judges and new_judges and old_judges != new_judges)
    other_verdict = same_response and not other_judge and _verdicts(old) != _verdicts(new)
    old_scorers, new_scorers = ({row.scorer for row in side.scores} for side in (old, new))
    differ = {JUDGE: other_judge, VERDICT: other_verdict, SCORER: old_scorers != new_scorers}
    return [cause for cause, differs in differ.items() if differs]


def _verdicts(record: QuestionRecord) -> list[tuple[int, str, bool | None, str]]:
    """Sample, criterion, verdict and value of each judgement, in a fixed order."""
    rows = ((row.sample, row.criterion, row.verdict, row.value) for row in record.judgements)
    return sorted(rows, key=repr)


def _field_values(record: QuestionRecord, field: str) -> list[str]:
    rows = sorted(record.predictions, key=lambda row: row.sample)
    return [getattr(row, field) for row in rows]


@dataclass(frozen=True, kw_only=True)
class EvaluationTables:
    """All tables of an evaluation; some may be empty."""

    name: str
    questions: Sequence[Question]
    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]
    scores: Sequence[Score]
    metrics: Sequence[Metric]

    @cached_property
    def records(self) -> dict[str, QuestionRecord]:
        """The record of each question with scores, by id."""
        predictions = _group_by_question(self.predictions)
        judgements = _group_by_question(self.judgements)
        scores = _group_by_question(self.scores)
        records = {}
        for question in self.questions:
            name = question.question_id
            if scores[name]:
                records[name] = QuestionRecord(
                    question=question,
                    predictions=predictions[name],
                    judgements=judgements[name],
                    scores=scores[name],
                )
        return records

    @cached_property
    def signature_parts(self) -> dict[str, str]:
        """Parts of the signature, by cause; empty without metrics."""
        if not self.metrics:
            return {}
        return signature_by_cause(Signature.parse(self.metrics[0].signature))

    def stored_value(self, metric: str) -> float | None:
        """Stored value of a metric over all questions; None if there is none."""
        for row in self.metrics:
            if (row.metric, row.category) == (metric, "all"):
                return None if isnan(row.value) else row.value
        return None


def signature_by_cause(signature: Signature) -> dict[str, str]:
    """Split a signature into parts named like causes; model and decoding are separate.

    >>> signature_by_cause(Signature("t", 1, "main", {"model": "m|t=0", "scorer": "strict"}))
    {'version of the task': 't v1', 'condition': 'main', 'scorer': 'strict', \
'model': 'm', 'decoding': 't=0'}
    """
    model, decoding = split_model_part(signature.parts.get("model", ""))
    task = "+".join((signature.task, *signature.extensions))
    by_cause = {VERSION: f"{task} v{signature.version}", "condition": signature.condition}
    names = {"data": "questions", "prompts": PROMPT}
    for name, value in signature.parts.items():
        if name != "model":
            by_cause[names.get(name, name)] = value
    return {**by_cause, MODEL: model, DECODING: decoding}


_Row = TypeVar("_Row", Prediction, Judgement, Score)


def _group_by_question(rows: Sequence[_Row]) -> defaultdict[str, list[_Row]]:
    by_question: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_question[row.question_id].append(row)
    return by_question
