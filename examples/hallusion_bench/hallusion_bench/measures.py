"""What HallusionBench measures: sections 4.2 and 4.3, Tables 2 and 3.

Units share figures where they are of one set: intervals do not take them for independent.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from bench_assets.core.schema.rows import Question
from bench_assets.core.stats.means import Mean, ScoredPoint, mean, product
from bench_assets.evaluation.task import ScoredQuestion
from hallusion_bench.diagnosis import Failure, case_of, diagnose
from hallusion_bench.questions import NO, YES


def by_category_and_topic(question: Question) -> Sequence[str]:
    """Slice by VD and VS, and by topic in each: both have texts in images (``ocr``)."""
    return question.category.split("/")[0], question.category


def pair_accuracy(scored: Sequence[ScoredQuestion]) -> Mean:
    """qAcc, Equation 5: the share of control pairs whose questions are all answered correctly."""
    return _all_right(_pairs(scored), "pair_size")


def figure_accuracy(scored: Sequence[ScoredQuestion]) -> Mean:
    """fAcc, Equation 4: the share of figures about which all questions are answered correctly."""
    return _all_right(_figures(scored), "figure_size")


def easy_accuracy(scored: Sequence[ScoredQuestion]) -> Mean:
    """The share of control pairs that are right without a figure and about original ones."""
    return _all_right(_pairs(scored), "pair_size", lambda question: not _is_edited(question))


def hard_accuracy(scored: Sequence[ScoredQuestion]) -> Mean:
    """The share of control pairs that are right about the figures that people edited."""
    return _all_right(_pairs(scored), "pair_size", _is_edited)


def accuracy(scored: Sequence[ScoredQuestion]) -> Mean:
    """aAcc, Equation 3: the share of questions that are answered correctly."""
    return mean(ScoredPoint(score.points, _set(question)) for question, score in scored)


def inconsistent(scored: Sequence[ScoredQuestion]) -> Mean:
    """The share of figures about which some questions are right, not all (section 4.3.2)."""
    return _of_figures(scored, lambda points: 0 < sum(points) < len(points))


def consistently_wrong(scored: Sequence[ScoredQuestion]) -> Mean:
    """The share of figures about which no question is right (section 4.3.2)."""
    return _of_figures(scored, lambda points: not any(points))


def yes_difference(scored: Sequence[ScoredQuestion]) -> Mean:
    """Equation 6, in [-1, 1]: how many more questions are answered with yes than should be.

    As the authors count: whatever is wrong, unclear responses included, stands for the opposite of
    the right answer.
    """
    halved = mean(
        ScoredPoint(
            None if points is None else (1 + _yes_too_many(question, points)) / 2, _set(question)
        )
        for question, score in scored
        for points in [score.points]
    )
    value, low, high = (2 * share - 1 for share in halved[:3])
    return halved._replace(value=value, low=low, high=high)


def false_positive_ratio(scored: Sequence[ScoredQuestion]) -> Mean:
    """Equation 7: the share of wrong responses that should have said no; 0.5 is without bias."""
    return mean(
        ScoredPoint(
            None if score.points is None else float(question.answer[0] == NO), _set(question)
        )
        for question, score in scored
        if score.points != 1
    )


def language_hallucination(scored: Sequence[ScoredQuestion]) -> Mean:
    """The share of failures that come of what the model takes for known (section 4.3.4)."""
    return _failures(scored, "language hallucination")


def visual_illusion(scored: Sequence[ScoredQuestion]) -> Mean:
    """The share of failures that come of seeing badly (section 4.3.4)."""
    return _failures(scored, "visual illusion")


def mixed(scored: Sequence[ScoredQuestion]) -> Mean:
    """The share of failures that may come of either (section 4.3.4)."""
    return _failures(scored, "mixed")


def _all_right(
    groups: Iterable[Sequence[ScoredQuestion]],
    size: str,
    part: Callable[[Question], bool] = lambda _: True,
) -> Mean:
    """Share of groups of which a part is all right; unscored where a question of the group lacks.

    Args:
        groups: Scores that belong together.
        size: Label that says how many these should be.
        part: Which questions count; groups without any are left out.
    """
    return mean(
        ScoredPoint(product(points) if _is_whole(group, size) else None, _set(group[0].question))
        for group in groups
        for points in [[score.points for question, score in group if part(question)]]
        if points
    )


def _of_figures(scored: Sequence[ScoredQuestion], holds: Callable[[Sequence[float]], bool]) -> Mean:
    figures = [(figure, [score.points for _, score in figure]) for figure in _figures(scored)]
    return mean(
        ScoredPoint(
            float(holds([p for p in points if p is not None]))
            if _is_whole(figure, "figure_size") and None not in points
            else None,
            _set(figure[0].question),
        )
        for figure, points in figures
    )


def _failures(scored: Sequence[ScoredQuestion], failure: Failure) -> Mean:
    """Share of one type of failure; what cannot be told apart is unscored."""
    originals = {_which(one): one for one in scored if one.question.labels["figure_id"] == "0"}
    return mean(
        ScoredPoint(None if found is None else float(found == failure), _set(one.question))
        for one in scored
        if one.score.points != 1
        for found in [_failure(one, originals.get(_which(one)))]
    )


def _failure(one: ScoredQuestion, original: ScoredQuestion | None) -> Failure | None:
    if original is None or None in (one.score.points, original.score.points):
        return None
    return diagnose(case_of(one, None if one is original else original))


def _which(one: ScoredQuestion) -> tuple[str, int]:
    return one.question.group_id, one.score.sample


def _set(question: Question) -> str:
    return question.labels["set"]


def _is_edited(question: Question) -> bool:
    return question.labels["visual_input"] == "2"


def _is_whole(group: Sequence[ScoredQuestion], size: str) -> bool:
    return len(group) == int(group[0].question.labels[size])


def _yes_too_many(question: Question, points: float) -> int:
    is_yes = question.answer[0] == YES
    says_yes = is_yes == (points == 1)
    return says_yes - is_yes


def _pairs(scored: Iterable[ScoredQuestion]) -> list[list[ScoredQuestion]]:
    """Control pairs, of two to four questions; some have but one."""
    return _groups(scored, lambda question: question.group_id)


def _figures(scored: Iterable[ScoredQuestion]) -> list[list[ScoredQuestion]]:
    shown = (one for one in scored if one.question.images)
    return _groups(shown, lambda question: question.labels["figure"])


def _groups(
    scored: Iterable[ScoredQuestion], key: Callable[[Question], str]
) -> list[list[ScoredQuestion]]:
    groups: dict[tuple[str, int], list[ScoredQuestion]] = defaultdict(list)
    for one in scored:
        groups[key(one.question), one.score.sample].append(one)
    return list(groups.values())
