"""Outcomes of requests: answered, no answer, refused for good, failed; and which model served them.

A refusal is the provider's: a content filter, an image that it does not take, a full context. It
stops a number unless ``accept`` has "refused", and then counts as wrong. So does a mix of serving
models without "mixed".
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import compress
from typing import Literal, TypeAlias, TypeVar

from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.core.tables.large_tables import column
from bench_assets.evaluation.task import AnsweredQuestion

Accepted: TypeAlias = Literal["refused", "mixed"]
Row = TypeVar("Row", Prediction, Judgement)

_WORD = re.compile(r"\w+")
_LOOP = 6  # words of which most are one: a model that is stuck
_SAME = 0.5
_SHOWN = 3  # serving models that a message names


def accept_refusals(row: Row, accept: Collection[Accepted]) -> Row:
    """Take a request that was refused for good as answered, where that is accepted.

    A prediction then has no answer, which is wrong; a judgement no verdict, which is unscored.
    """
    if not row.refused or "refused" not in accept:
        return row
    why = f"refused: {row.error}"
    if isinstance(row, Judgement):
        return replace(row, error="", response=row.response or why)
    return replace(row, error="", no_answer=why)


def refusal_advice(rows: Sequence[Prediction] | Sequence[Judgement]) -> str:
    """Say how many rows were refused for good, why, and what to do; "" if none stands open."""
    refused = Counter(compress(column(rows, "refused"), column(rows, "error")))
    del refused[""]
    if not (n := refused.total()):
        return ""
    why = ", ".join(f"{kind} {count}" for kind, count in refused.most_common())
    if isinstance(rows[0], Judgement):
        return (
            f"{n} of {len(rows)} verdicts were refused for good by the judge's provider ({why})."
            " To leave their responses unscored: --accept refused"
        )
    return (
        f"{n} of {len(rows)} requests were refused for good by the provider ({why})."
        " To score them as wrong: --accept refused"
    )


def served_counts(rows: Sequence[Prediction] | Sequence[Judgement]) -> Counter[str]:
    """How many rows each serving model answered, as far as servers name themselves."""
    served = Counter(column(rows, "served"))
    del served[""]
    return served


def mix_message(served: Counter[str], accept: Collection[Accepted]) -> str:
    """Say that several models served one evaluation; "" if one did, or that is accepted.

    >>> mix_message(Counter({"m-05": 60, "m-08": 40}), ())
    'answered by 2 models: m-05 (60), m-08 (40). To measure them as one: --accept mixed'
    """
    if len(served) < 2 or "mixed" in accept:
        return ""
    who = f"answered by {len(served)} models: {shown(served)}"
    return f"{who}. To measure them as one: --accept mixed"


def shown(served: Counter[str]) -> str:
    """Name serving models with their numbers of responses, the most frequent first.

    >>> shown(Counter({"m-08": 40, "m-05": 60}))
    'm-05 (60), m-08 (40)'
    """
    named = [f"{name} ({n})" for name, n in sorted(served.items(), key=lambda one: (-one[1], one))]
    more = [f"{len(named) - _SHOWN} more"] if len(named) > _SHOWN else []
    return ", ".join(named[:_SHOWN] + more)


def require_responses(
    task: str,
    what: str,
    rows: Sequence[Prediction] | Sequence[Judgement],
    accept: Collection[Accepted],
) -> None:
    """Refuse to score what was not asked or judged as a whole, as the checks of assets do.

    Raises:
        ModelError: If rows have no response, or several models answered.
    """
    if failed := [row for row in rows if row.error]:
        advice = refusal_advice(rows) or "run it again to ask them"
        raise ModelError(
            f"{task}: {len(failed)} of {len(rows)} {what} without a response, such as"
            f" {failed[0].question_id}: {failed[0].error}; {advice}"
        )
    if mixed := mix_message(served_counts(rows), accept):
        raise ModelError(f"{task}: {mixed}")


def is_unread(pair: AnsweredQuestion, given: Score, judgements: Iterable[Judgement]) -> bool:
    """Whether a response says something, and neither a rule nor a model read it.

    A response that a scorer gives points without saying what it read is read; one that names none
    of the possible answers of its question is not.
    """
    if given.error or given.no_answer or pair.prediction.ranking:
        return False
    points = given.points
    if any(one.prompt_sha256 for one in judgements):
        read = points is not None
    elif not given.max_points:
        read = _names_an_answer(pair.question, given)
    else:
        read = points is not None and (points > 0 or _names_an_answer(pair.question, given))
    return not read and not says_nothing(pair.prediction.text)


def _names_an_answer(question: Question, given: Score) -> bool:
    possible = question.options if question.kind == "text" else ()
    return bool(given.answer) and (not possible or not set(given.answer).isdisjoint(possible))


def says_nothing(response: str) -> bool:
    """Whether a response has no word, or is one word, or one letter, over and over.

    >>> says_nothing("....."), says_nothing("cookie " * 20), says_nothing("3" * 40)
    (True, True, True)
    """
    words = _WORD.findall(response.casefold())
    if not words:
        return True
    if len(words) == 1 and len(words[0]) >= _LOOP:
        return len(set(words[0])) == 1
    return len(words) >= _LOOP and max(Counter(words).values()) > _SAME * len(words)
