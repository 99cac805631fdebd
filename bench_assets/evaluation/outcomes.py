"""Outcomes of requests: answered, no answer, permanently refused, failed; and serving models.

Refusals are permanent refusals by the provider, such as a content filter, an unsupported image or a
full context. They stop a number unless ``accept`` has "refused"; then they count as wrong. Several
serving models stop a number unless ``accept`` has "mixed".
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, TypeVar

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.core.schema.chat import IMAGE_REFUSED
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.evaluation.task import AnsweredQuestion

Accepted: TypeAlias = Literal["refused", "mixed"]
Row = TypeVar("Row", Prediction, Judgement)

EXPIRED_VERDICT = "expired"
"""Value of the judgement of a response that too few people judged by the deadline."""

_WORD = re.compile(r"\w+")
_MIN_LOOP_WORDS = 6  # words or letters; a shorter response is no loop
_MIN_REPEATED_SHARE = 0.5  # share of the words, above which a repeated word is a loop
_MAX_SHOWN = 3  # serving models that a message names


def accept_refusals(row: Row, accept: Collection[Accepted]) -> Row:
    """Clear the error of permanently refused requests, if accepted.

    The prediction then has no answer (wrong), the judgement no verdict (unscored).
    """
    if not row.refused or "refused" not in accept:
        return row
    reason = f"refused: {row.error}"
    if isinstance(row, Judgement):
        return replace(row, error="", response=row.response or reason)
    return replace(row, error="", no_answer=reason)


def refusal_advice(rows: Sequence[Prediction] | Sequence[Judgement]) -> str:
    """Format the number of permanent refusals, the reasons and the remedy; "" without any."""
    counts = Counter(row.refused for row in rows if row.error and row.refused)
    if not counts:
        return ""
    n = counts.total()
    reasons = ", ".join(f"{reason} {count}" for reason, count in counts.most_common())
    if isinstance(rows[0], Judgement):
        return (
            f"{n} of {len(rows)} verdicts were permanently refused by the judge's provider"
            f" ({reasons}). To leave their responses unscored: --accept refused"
        )
    advice = " To score them as wrong: --accept refused"
    if counts[IMAGE_REFUSED] == len(rows):
        advice += ". To evaluate a language model without images: text_only = true"
    refusals = f"{n} of {len(rows)} requests were permanently refused by the provider ({reasons})"
    return f"{refusals}.{advice}"


def served_counts(rows: Sequence[Prediction] | Sequence[Judgement]) -> Counter[str]:
    """Count responses by serving model, for servers that name it."""
    return Counter(row.served for row in rows if row.served)


def mix_message(served: Counter[str], accept: Collection[Accepted]) -> str:
    """Format a message on several serving models; "" for one, or if accepted.

    >>> mix_message(Counter({"m-05": 60, "m-08": 40}), ())
    'answered by 2 models: m-05 (60), m-08 (40). To measure them as one: --accept mixed'
    """
    if len(served) < 2 or "mixed" in accept:
        return ""
    summary = f"answered by {len(served)} models: {format_served(served)}"
    return f"{summary}. To measure them as one: --accept mixed"


def format_served(served: Counter[str]) -> str:
    """Name serving models with their numbers of responses, the most frequent first.

    >>> format_served(Counter({"m-08": 40, "m-05": 60}))
    'm-05 (60), m-08 (40)'
    """
    names = sorted(served, key=lambda name: (-served[name], name))
    shown = [f"{name} ({served[name]})" for name in names[:_MAX_SHOWN]]
    if len(names) > _MAX_SHOWN:
        shown.append(f"{len(names) - _MAX_SHOWN} more")
    return ", ".join(shown)


def require_responses(
    task: str,
    noun: str,
    rows: Sequence[Prediction] | Sequence[Judgement],
    accept: Collection[Accepted],
) -> None:
    """Refuse to score incomplete evaluations, as the asset checks do.

    ``noun`` names the requests of the rows in the message: "questions" or "verdicts".

    Raises:
        ModelError: If responses are missing, or several models answered and this is not accepted.
    """
    if failed := [row for row in rows if row.error]:
        advice = refusal_advice(rows) or "run it again to retry them"
        raise ModelError(
            f"{task}: {len(failed)} of {len(rows)} {noun} without a response, such as"
            f" {failed[0].question_id}: {failed[0].error}; {advice}"
        )
    if mixed := mix_message(served_counts(rows), accept):
        raise ModelError(f"{task}: {mixed}")


def is_unread(pair: AnsweredQuestion, score: Score, judgements: Iterable[Judgement]) -> bool:
    """Whether a response has content, but neither a rule nor a model parsed an answer.

    A response with points counts as read, even if the scorer does not report an answer. Rankings,
    and responses with an error or without an answer, are not unread.
    """
    if score.error or score.no_answer or pair.prediction.ranking:
        return False
    is_judged_by_model = any(judgement.prompt_sha256 for judgement in judgements)
    if is_judged_by_model:
        is_read = score.points is not None
    elif not score.max_points:
        is_read = _has_answer(pair.question, score)
    elif score.points is None:
        is_read = False
    else:
        is_read = score.points > 0 or _has_answer(pair.question, score)
    return not is_read and not is_empty_or_loop(pair.prediction.text)


def _has_answer(question: Question, score: Score) -> bool:
    """Whether a score has an answer; to a text question with options, one of these."""
    if not score.answer:
        return False
    options = question.options if question.kind == "text" else ()
    return not options or not set(score.answer).isdisjoint(options)


def is_empty_or_loop(response: str) -> bool:
    """Whether a response is empty, one repeated letter, or mostly one repeated word.

    >>> is_empty_or_loop("....."), is_empty_or_loop("cookie " * 20), is_empty_or_loop("3" * 40)
    (True, True, True)
    """
    words = _WORD.findall(response.casefold())
    if not words:
        return True
    if len(words) == 1 and len(words[0]) >= _MIN_LOOP_WORDS:
        return len(set(words[0])) == 1
    if len(words) < _MIN_LOOP_WORDS:
        return False
    return max(Counter(words).values()) > _MIN_REPEATED_SHARE * len(words)


def is_by_people(judgements: Sequence[Judgement]) -> bool:
    """Whether people judged a response."""
    return any(judgement.judge == PEOPLE for judgement in judgements)
