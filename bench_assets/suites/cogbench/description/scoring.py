"""Scores descriptions by the key points they mention: the Cognition Score of section 3.2.

A key point is the conclusion of a chain or, for event relationships, a whole chain. The score of a
kind, and of all, is the share of its key points over all images that are mentioned: a micro mean.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from bench_assets.core.schema.rows import Judgement, Score
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.evaluation.task import RULES, AnsweredQuestion, Measure, ScoredQuestion
from bench_assets.suites.cogbench.dataset.content_words import content_words, word_share
from bench_assets.suites.cogbench.dataset.reasoning_kinds import KINDS, Kind
from bench_assets.suites.cogbench.description.judging import (
    WITH_THOUGHTS,
    calls_about,
    read_by_position,
)
from bench_assets.suites.cogbench.description.questions import KeyPoint, key_points

YES, NO, UNREAD, REPEATED = "yes", "no", "unread", "repeated"  # what Score.answer says of a point

_MENTIONED = 0.5  # share of a key point's words that the rules want to see


def judge_by_rules(answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
    """Call a key point mentioned if at least half of its words stand in the description.

    Words are compared without common endings; articles, pronouns and the like do not count. It
    needs no model and sees no meaning: a check of the machinery, not of a model's cognition.
    """
    return [
        Judgement.of(
            pair.prediction,
            judge=RULES,
            criterion=point.criterion,
            verdict=share >= _MENTIONED,
            response=f"{share:.2f} of its words",
        )
        for pair in answered
        for said in [content_words(pair.prediction.text)]
        for point in key_points(pair.question)
        for share in [word_share(point.text, said)]
    ]


def score_by_number(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give a point for each key point that the judge found, read by its printed number."""
    points = key_points(answered.question)
    found = {judgement.criterion: judgement.verdict for judgement in judgements}
    return _score(answered, judgements, [_word(found.get(p.criterion)) for p in points])


def score_officially(answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
    """Give points as the authors' scripts do: verdicts by position, equal key points once.

    Of equal key points of one kind the last verdict counts. The rules print no verdicts to be
    read: theirs count as they are.
    """
    found = {judgement.criterion: judgement for judgement in judgements}
    found |= {
        name.removesuffix(WITH_THOUGHTS): judgement
        for name, judgement in found.items()
        if name.endswith(WITH_THOUGHTS)
    }
    verdicts: dict[KeyPoint, str] = {}
    for points in calls_about(answered):
        said = [found[p.criterion] for p in points if p.criterion in found]
        by_rules = not said or said[0].by_rules
        read = (
            [found[p.criterion].verdict if p.criterion in found else None for p in points]
            if by_rules
            else read_by_position(said[0].response, len(points))
        )
        verdicts |= {point: _word(verdict) for point, verdict in zip(points, read, strict=True)}
    last = {(point.kind, point.text): point for point in verdicts}
    return _score(
        answered,
        judgements,
        [
            verdicts[point] if last[point.kind, point.text] == point else REPEATED
            for point in key_points(answered.question)
        ],
    )


def cognition(scored: Sequence[ScoredQuestion]) -> Mean:
    """Overall Cognition Score: mentioned key points of all kinds by all key points."""
    return mean(_points(scored, KINDS))


def cognition_by_kind() -> dict[str, Measure]:
    """Cognition Score of each kind, named ``cognition_time`` and so on."""
    return {f"cognition_{kind.code}": partial(_cognition_of, kind) for kind in KINDS}


def _cognition_of(kind: Kind, scored: Sequence[ScoredQuestion]) -> Mean:
    return mean(_points(scored, (kind,)))


def _points(scored: Sequence[ScoredQuestion], kinds: Sequence[Kind]) -> Iterator[ScoredPoint]:
    for question, score in scored:
        points = key_points(question)
        words = score.answer or (UNREAD,) * len(points)
        for point, word in zip(points, words, strict=True):
            if point.kind in kinds and word != REPEATED:
                yield ScoredPoint({YES: 1.0, NO: 0.0}.get(word), question.cluster)


def _score(
    answered: AnsweredQuestion, judgements: Sequence[Judgement], words: Sequence[str]
) -> Score:
    unread = [
        point.criterion
        for point, word in zip(key_points(answered.question), words, strict=True)
        if word == UNREAD
    ]
    errors = sorted({judgement.error for judgement in judgements if judgement.error})
    note = f"no readable verdict on {', '.join(unread)}" if unread else ""
    return Score.of(
        answered.prediction,
        points=None if unread else float(words.count(YES)),
        max_points=float(len(words) - words.count(REPEATED)),
        answer=tuple(words),
        note="; ".join([note, *errors]) if errors else note,
    )


def _word(verdict: bool | None) -> str:
    return UNREAD if verdict is None else YES if verdict else NO
