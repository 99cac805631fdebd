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
from typing import NamedTuple, Protocol, TypeVar

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
    """A question with its predictions, judgements and scores, one each per sample."""

    question: Question
    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]
    scores: Sequence[Score]

    @property
    def share(self) -> float | None:
        """Share of the points; None without scores, or with an unscored one."""
        most = sum(score.max_points for score in self.scores)
        known = [score.points for score in self.scores if score.points is not None]
        return sum(known) / most if most and len(known) == len(self.scores) else None

    @property
    def responses(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """The scored texts, sample by sample."""
        return sorted((row.sample, row.text, row.ranking) for row in self.predictions)

    @property
    def points(self) -> list[tuple[int, float | None, float]]:
        """Points and maximum points, sample by sample."""
        rows = ((row.sample, row.points, row.max_points) for row in self.scores)
        return sorted(rows, key=lambda row: row[0])


def find_causes(old: QuestionRecord, new: QuestionRecord, *, same_version: bool = True) -> str:
    """Name the possible causes of a question's change; "" if nothing differs.

    Causes that cannot be separated are joined: ``model + scorer``.
    """
    if any(_field_values(old, "error")) != any(_field_values(new, "error")):
        return NO_RESPONSE
    same_response, same_points = old.responses == new.responses, old.points == new.points
    changed = changed_fields(old.question, new.question)
    causes = _inputs(old, new, changed)
    if same_response and not same_points:
        causes = [cause for cause in causes if cause == QUESTION_CHANGED]
    if not (same_response or causes):
        thinks = any(_field_values(old, "raw_text")) and _field_values(
            old, "raw_text"
        ) == _field_values(new, "raw_text")
        causes = [REASONING_REMOVED if thinks else RERUN]
    if _field_values(old, "no_answer") != _field_values(new, "no_answer"):
        causes.append(TRUNCATED)
    causes += _readers(old, new, same_response=same_response) + ([] if same_version else [VERSION])
    return SEPARATOR.join(sorted(causes, key=STAGES.index)) or ("" if same_points else REST)


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


def _inputs(old: QuestionRecord, new: QuestionRecord, changed: Sequence[str]) -> list[str]:
    """Differing inputs of a response; a changed question implies its prompt."""
    follows = bool(_PROMPT_FIELDS & set(changed))
    (model, decoding), (model_now, decoding_now) = (
        _models_and_decodings(old),
        _models_and_decodings(new),
    )
    differ = {
        QUESTION_CHANGED: bool(changed),
        PROMPT: not follows
        and _field_values(old, "prompt_sha256") != _field_values(new, "prompt_sha256"),
        MODEL: model != model_now,
        DECODING: decoding != decoding_now,
    }
    return [cause for cause, differs in differ.items() if differs]


def _models_and_decodings(one: QuestionRecord) -> tuple[set[str], set[str]]:
    pairs = [split_model_part(row.decoding) for row in one.predictions]
    return {model for model, _ in pairs}, {decoding for _, decoding in pairs}


def _readers(old: QuestionRecord, new: QuestionRecord, *, same_response: bool) -> list[str]:
    """Differing parts that turn a response into points.

    No judgements on one side match any judge.
    """
    judges, judges_now = ({row.judge for row in evaluation.judgements} for evaluation in (old, new))
    is_other_judge = bool(judges and judges_now and judges != judges_now)
    verdict_changed = same_response and not is_other_judge and _verdicts(old) != _verdicts(new)
    scorers, readings_now = ({row.scorer for row in evaluation.scores} for evaluation in (old, new))
    differ = {JUDGE: is_other_judge, VERDICT: verdict_changed, SCORER: scorers != readings_now}
    return [cause for cause, differs in differ.items() if differs]


def _verdicts(one: QuestionRecord) -> list[tuple[int, str, bool | None, str]]:
    rows = ((row.sample, row.criterion, row.verdict, row.value) for row in one.judgements)
    return sorted(rows, key=lambda row: (row[0], row[1], str(row[2]), row[3]))


def _field_values(one: QuestionRecord, field: str) -> list[str]:
    """A field of the predictions, sample by sample."""
    rows = sorted(one.predictions, key=lambda row: row.sample)
    return [getattr(row, field) for row in rows]


_CAUSE_NAMES = {
    "data": "questions",
    "prompts": "prompt",
}  # parts of signatures, as causes name them


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
    def answered(self) -> dict[str, QuestionRecord]:
        """Each question with scores, by id."""
        predictions, judged = _by_question(self.predictions), _by_question(self.judgements)
        scored = _by_question(self.scores)
        return {
            question.question_id: QuestionRecord(
                question, predictions[name], judged[name], scored[name]
            )
            for question in self.questions
            for name in (question.question_id,)
            if scored[name]
        }

    @cached_property
    def signature_parts(self) -> dict[str, str]:
        """Parts of the signature; none without metrics."""
        return (
            signature_by_cause(Signature.parse(self.metrics[0].signature)) if self.metrics else {}
        )

    def written(self, metric: str) -> float | None:
        """Stored value of a metric over all questions; None if there is none."""
        values = [m.value for m in self.metrics if (m.metric, m.category) == (metric, "all")]
        return None if not values or isnan(values[0]) else values[0]


def signature_by_cause(signature: Signature) -> dict[str, str]:
    """Split a signature into parts named like causes; model and decoding are separate.

    >>> signature_by_cause(Signature("t", 1, "main", {"model": "m|t=0", "scorer": "strict"}))
    {'version of the task': 't v1', 'condition': 'main', 'scorer': 'strict', \
'model': 'm', 'decoding': 't=0'}
    """
    model, decoding = split_model_part(signature.parts.get("model", ""))
    rest = {_CAUSE_NAMES.get(k, k): v for k, v in signature.parts.items() if k != "model"}
    task = "+".join((signature.task, *signature.extensions))
    causes = {VERSION: f"{task} v{signature.version}", "condition": signature.condition}
    return {**causes, **rest, MODEL: model, DECODING: decoding}


class _QuestionRow(Protocol):
    @property
    def question_id(self) -> str: ...


_Row = TypeVar("_Row", bound=_QuestionRow)


def _by_question(rows: Sequence[_Row]) -> defaultdict[str, list[_Row]]:
    by_question: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_question[row.question_id].append(row)
    return by_question
