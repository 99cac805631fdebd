"""Parsing coverage: responses parsed by rules, by a judge, or unread, and their forms."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import nan
from statistics import fmean
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bench_assets.audit.framework.evidence import Columns, Evidence, Floats
from bench_assets.audit.framework.findings import (
    AuditFinding,
    SkippedCheckError,
    Suspect,
    audit_check,
)
from bench_assets.audit.robustness.rank_stability import find_rank_flips
from bench_assets.core.stats.clusters import cluster_questions
from bench_assets.evaluation.outcomes import is_empty_or_loop

Form: TypeAlias = Literal[
    "nothing", "one letter", "a number", "one word", "an object", "marked up", "a line", "long"
]

_FORM_PATTERNS: dict[Form, re.Pattern[str]] = {
    "a number": re.compile(r"[^\w]*-?\d[\d.,]*\s*%?[^\w]*"),
    "one letter": re.compile(r"[\s*_`\"'(\[]*[A-Za-z][\s*_`\"')\].:]*"),
    "an object": re.compile(r"[{\[].*[}\]]", re.DOTALL),
    "one word": re.compile(r"\W*\w+\W*"),
}
_MARKUP = re.compile(r"^\s*(?:#{1,6} |[-*] |\d+[.)] |\||>)|\*\*|```", re.MULTILINE)
_MIN_LONG_LENGTH = 200  # characters


@lru_cache(maxsize=2**14)  # many responses are a letter
def form_of(response: str) -> Form:
    """Name the form of a response.

    >>> form_of("(B)"), form_of("**Answer:** (B)"), form_of("3 "), form_of("is is is is is is is")
    ('one letter', 'marked up', 'a number', 'nothing')
    """
    text = response.strip()
    if is_empty_or_loop(text):
        return "nothing"
    for form, pattern in _FORM_PATTERNS.items():
        if pattern.fullmatch(text):
            return form
    if _MARKUP.search(text):
        return "marked up"
    return "long" if len(text) > _MIN_LONG_LENGTH or "\n" in text else "a line"


_NO_MODELS = "no generative model was evaluated"

Reader: TypeAlias = Literal["rule", "judge", "unread", "silent"]
"""How a response was parsed; ``silent``: it has no answer, or was cut off."""

_READ: Mapping[Reader, str] = {
    "rule": "read by rules",
    "judge": "read by the judge",
    "unread": "unread",
    "silent": "without an answer",
}
_PREDICTION_COLUMNS = ("question_id", "sample", "text", "ranking")
_JUDGEMENT_COLUMNS = ("question_id", "sample", "prompt_sha256", "error")
_SCORED = (
    "question_id",
    "sample",
    "points",
    "max_points",
    "answer",
    "no_answer",
    "unread",
    "error",
)


class ParsedResponses(NamedTuple):
    """Responses of one model, with the parser or judge that read each."""

    questions: Sequence[str]
    forms: Sequence[Form]
    by: Sequence[Reader]
    points: Floats  # (responses,): shares; NaN if unscored


def classify_readers(said: Columns, heard: Columns, scored: Columns) -> ParsedResponses:
    """Parser or judge that read each response of a model; missing responses are left out.

    A response is unread if it has text, but no answer was parsed or the judge's verdict is
    unreadable.
    """
    judged = {
        (question, sample)
        for question, sample, prompted, error in zip(
            *(heard[name] for name in _JUDGEMENT_COLUMNS), strict=True
        )
        if prompted or error
    }
    known = {
        (question, sample): of
        for question, sample, *of in zip(*(scored[name] for name in _SCORED), strict=True)
        if not of[-1]
    }
    rows = [
        (question, form, by, share)
        for question, sample, text, ranking in zip(
            *(said[name] for name in _PREDICTION_COLUMNS), strict=True
        )
        for key in [(question, sample)]
        if key in known and not ranking
        for form in [form_of(text)]
        for points, most, answer, no_answer, unread, _ in [known[key]]
        for is_read in [bool(answer) and not unread]
        for by in [_reader(form, points, no_answer, read=is_read, by_model=key in judged)]
        for share in [nan if points is None else points / (most or 1.0)]
    ]
    questions, forms, by, points = zip(*rows, strict=True) if rows else ((), (), (), ())
    return ParsedResponses(questions, forms, by, np.array(points, dtype=np.float64))


@audit_check("unread_responses", "Does a model's rank depend on unread responses?")
def unread_finding(evidence: Evidence) -> AuditFinding:
    """Find models whose rank depends on unread responses.

    Two bounds are tried: unread responses score like the model's parsed ones, and unscored ones
    score 0.
    """
    if evidence.task.asked_of != "model":
        raise SkippedCheckError(_NO_MODELS)
    read = {
        model: classify_readers(
            evidence.columns("predictions", model, _PREDICTION_COLUMNS),
            evidence.columns("judgements", model, _JUDGEMENT_COLUMNS),
            evidence.columns("scores", model, _SCORED),
        )
        for model in evidence.results().models
    }
    read = {model: readings for model, readings in read.items() if readings.questions}
    if not read:
        raise SkippedCheckError(_NO_MODELS)
    suspects = _rank_suspects(read, cluster_questions(evidence.questions))
    every = sum((Counter(readings.by) for readings in read.values()), Counter[Reader]())
    return AuditFinding(
        sentence=(
            f"Of {every.total()} responses: {_shares(every)}. Not read, by form:"
            f" {_unread_forms(read.values())}. By model:"
            f" {'; '.join(f'{name}: {_shares(Counter(m.by))}' for name, m in read.items())}."
        ),
        n=every.total(),
        suspects=suspects,
    )


def reader_shares(by: Counter[Reader]) -> dict[Reader, float]:
    """Share of the responses that each parser or judge read."""
    return {name: by[name] / by.total() for name in ("rule", "judge", "unread", "silent")}


def _reader(
    form: Form, points: float | None, no_answer: str, *, read: bool, by_model: bool
) -> Reader:
    read = points is not None and (by_model or read)
    if no_answer or (form == "nothing" and not read):
        return "silent"
    if not read:
        return "unread"
    return "judge" if by_model else "rule"


def _rank_suspects(
    read: Mapping[str, ParsedResponses], cluster: Mapping[str, str]
) -> list[Suspect]:
    now = {model: _points(readings) for model, readings in read.items()}
    otherwise = {
        "unread responses scored like the others": {
            model: _points(readings, unread=_mean_parsed(readings))
            for model, readings in read.items()
        },
        "unscored responses were wrong": {
            model: _points(readings, unscored=0.0) for model, readings in read.items()
        },
    }
    unread = {
        model: reader_shares(Counter(readings.by))["unread"] for model, readings in read.items()
    }
    return [
        Suspect(
            suspect_model,
            f"{_shares(Counter(read[suspect_model].by))}; {flip.better} leads {flip.worse} by"
            f" {flip.now:.3f},"
            f" and by {flip.then:.3f} if {swap}",
            -flip.then,
        )
        for swap, alternative in otherwise.items()
        for flip in find_rank_flips(now, alternative, cluster)
        for suspect_model in [max((flip.better, flip.worse), key=lambda name: unread[name])]
    ]


def _points(
    read: ParsedResponses, unread: float | None = None, unscored: float | None = None
) -> dict[str, float]:
    """Mean share of points by question, without unscored ones.

    Args:
        read: Responses of one model.
        unread: Points for unread responses, which were scored as wrong.
        unscored: Points for unscored responses; None: they are left out.
    """
    scored = ~np.isnan(read.points)
    points = np.where(scored, read.points, nan if unscored is None else unscored)
    if unread is not None:
        points[scored & _reader_mask(read, "unread")] = unread
    number = {question: n for n, question in enumerate(dict.fromkeys(read.questions))}
    kept = ~np.isnan(points)
    of = np.array([number[question] for question in read.questions], dtype=np.intp)[kept]
    sums, draws = np.bincount(of, points[kept], len(number)), np.bincount(of, None, len(number))
    means = zip(number, sums.tolist(), draws.tolist(), strict=True)
    return {question: total / n for question, total, n in means if n}


def _reader_mask(read: ParsedResponses, *readers: Reader) -> npt.NDArray[np.bool_]:
    return np.array([reader in readers for reader in read.by], dtype=bool)


def _mean_parsed(read: ParsedResponses) -> float | None:
    """Mean points of parsed responses; None if there are none."""
    points = read.points[_reader_mask(read, "rule", "judge") & ~np.isnan(read.points)]
    return fmean(points.tolist()) if points.size else None


def _shares(by: Counter[Reader]) -> str:
    return ", ".join(
        f"{100 * share:.0f} % {_READ[name]}" for name, share in reader_shares(by).items() if share
    )


def _unread_forms(read: Iterable[ParsedResponses]) -> str:
    unread = Counter(
        form
        for readings in read
        for form, by in zip(readings.forms, readings.by, strict=True)
        if by == "unread"
    )
    return ", ".join(f"{form} {n}" for form, n in unread.most_common()) or "none"
