"""What trials, people's labels and a second judge say of a judge: its figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import NamedTuple

from bench_assets.audit.framework import figures as names
from bench_assets.audit.framework.figures import JudgeFigure
from bench_assets.audit.judges.judge_trials import JudgeTrial, Kind
from bench_assets.core.stats.means import Mean, ScoredPoint, mean
from bench_assets.core.stats.paired_tests import PairedScores, change, interval
from bench_assets.core.stats.rater_agreement import Kappa, against, cohen_kappa


class JudgeRun(NamedTuple):
    """Who judged what and when: what all figures of one trial share."""

    task: str
    judge: str
    setup: str
    prompts: str
    at: str


Yes = Mapping[tuple[str, bool], float]  # what is said of each response, by ``Trial.base``


def figures_of_trials(tried: Sequence[JudgeTrial], who: JudgeRun) -> list[JudgeFigure]:
    """Sum up what a judge makes of trials; a figure that nothing can be said of is left out."""
    plain, long = _said(tried, "plain"), _said(tried, "long")
    found = [
        _figure(who, names.RECALL, _mean_of(plain, right=True)),
        _figure(who, names.FALSE_ALARMS, _mean_of(plain, right=False)),
        _kappa(who, names.MADE, _pairs(plain)),
        _longer(who, plain, long),
        _reordered(who, tried, plain),
        _followed(who, tried, plain, long),
        _unreadable(who, tried),
    ]
    return [one for one in found if one and not isnan(one.value)]


def figures_beside(
    first: Sequence[JudgeTrial], second: Sequence[JudgeTrial], who: JudgeRun, other: str
) -> list[JudgeFigure]:
    """Compare two judges on the same trials: Cohen's kappa, and on which questions they differ."""
    said = {one.trial.prediction.model + one.trial.question.question_id: one for one in second}
    pairs = [
        (one, said[key])
        for one in first
        for key in [one.trial.prediction.model + one.trial.question.question_id]
        if one.said is not None and key in said and said[key].said is not None
    ]
    apart = sorted({a.trial.base[0] for a, b in pairs if _is_yes(a) != _is_yes(b)})
    kappa = cohen_kappa([(_is_yes(a), _is_yes(b)) for a, b in pairs])
    found = _of_kappa(who, names.SECOND, kappa, f"{other}: {' '.join(apart)}".strip())
    return [] if isnan(kappa.value) else [found]


def figures_of_labels(pairs: Sequence[tuple[bool, bool]], who: JudgeRun) -> list[JudgeFigure]:
    """Compare a judge with people.

    Args:
        pairs: Of each response that both have judged, what people say, and what the judge says.
        who: The judge.
    """
    table = against(pairs)
    found = [
        _kappa(who, names.PEOPLE, pairs, str(table)),
        _figure(who, names.PRECISION, table.precision),
        _figure(who, names.RECALL_PEOPLE, table.recall),
    ]
    return [one for one in found if one and not isnan(one.value)]


def _said(tried: Iterable[JudgeTrial], kind: Kind) -> Yes:
    return {
        one.trial.base: one.said
        for one in tried
        if one.trial.kind == kind and one.said is not None and one.prompts
    }


def _is_yes(one: JudgeTrial) -> bool:
    return (one.said or 0.0) > 0.5


def _pairs(said: Yes) -> Iterator[tuple[bool, bool]]:
    for (_, right), share in said.items():
        yield right, share > 0.5


def _mean_of(said: Yes, *, right: bool) -> Mean:
    return mean(ScoredPoint(share) for (_, is_right), share in said.items() if is_right == right)


def _longer(who: JudgeRun, plain: Yes, long: Yes) -> JudgeFigure | None:
    both = [
        PairedScores(plain[base], said, base[0]) for base, said in long.items() if base in plain
    ]
    if not both:
        return None
    low, high = interval(both)
    about = [pair.cluster for pair in both if pair.after > pair.before]
    gained = Mean(change(both), max(low, -1.0), min(high, 1.0), len(both), 0)
    return _figure(who, names.LONGER, gained, about)


def _reordered(who: JudgeRun, tried: Sequence[JudgeTrial], plain: Yes) -> JudgeFigure | None:
    """Responses whose verdict changes; those to which the judge sees no options are left out."""
    shown = {one.trial.base: one.prompts for one in tried if one.trial.kind == "plain"}
    both = {
        one.trial.base: one.said != plain[one.trial.base]
        for one in tried
        if one.trial.kind == "reordered" and one.trial.base in plain and one.said is not None
        if one.prompts and one.prompts != shown[one.trial.base]
    }
    changed = mean(ScoredPoint(float(has), base[0]) for base, has in both.items())
    return _figure(who, names.REORDERED, changed, [base[0] for base, has in both.items() if has])


def _followed(
    who: JudgeRun, tried: Sequence[JudgeTrial], plain: Yes, long: Yes
) -> JudgeFigure | None:
    """Injections into responses that are called wrong without them; those that rules read are none.

    A response that is called right without one, or padded with words that tell the judge nothing,
    could not be turned: it is left out.
    """
    given = [
        (one, one.said > max(before, long.get(one.trial.base, 0.0)))
        for one in tried
        if one.trial.kind == "injected" and one.said is not None and one.prompts
        for before in [plain.get(one.trial.base)]
        if before is not None and max(before, long.get(one.trial.base, 0.0)) < 1
    ]
    flipped = mean(ScoredPoint(float(has), one.trial.base[0]) for one, has in given)
    return _figure(who, names.FOLLOWED, flipped, [one.trial.injection for one, has in given if has])


def _unreadable(who: JudgeRun, tried: Sequence[JudgeTrial]) -> JudgeFigure | None:
    asked = [one for one in tried if one.prompts]
    return _figure(who, "unreadable", mean(ScoredPoint(float(one.said is None)) for one in asked))


def _kappa(
    who: JudgeRun, figure: str, pairs: Iterable[tuple[bool, bool]], about: str = ""
) -> JudgeFigure | None:
    kappa = cohen_kappa(pairs)
    return None if isnan(kappa.value) else _of_kappa(who, figure, kappa, about)


def _of_kappa(who: JudgeRun, figure: str, kappa: Kappa, about: str = "") -> JudgeFigure:
    mean_like = Mean(kappa.value, kappa.low, kappa.high, kappa.n, 0)
    return _figure(who, figure, mean_like, [about] if about else [])


def _figure(who: JudgeRun, figure: str, found: Mean, about: Sequence[str] = ()) -> JudgeFigure:
    return JudgeFigure(
        **who._asdict(),
        figure=figure,
        value=found.value,
        low=found.low,
        high=found.high,
        n=found.n_scored,
        about=" ".join(about),
    )
