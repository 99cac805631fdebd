"""Selection of raw problems (appendix D).

Appendix D leaves three things open. Its two forms of H differ: the right one, taken here, has no
unit, as adding characters and images requires; the left one is half the harmonic mean, in
characters. "q = 1" is read as a = 1 and p = 1; b is 1 too. m is not given: here 1, at most half of
N_k.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import ceil, log10

from bench_assets.suites.multi.dataset.source import MultiItem
from bench_assets.suites.multi.prompts import IMAGE_TOKEN

NO_KNOWLEDGE = "null"  # keyword of questions without knowledge (footnote 9)
_ALPHA = 3.0  # picked problems of a knowledge piece, per power of ten of its problems
_WEIGHTS = (1.0, 0.1, 0.5)  # of question, answer and analysis: their characters, and their images


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionDecision:
    """Whether one raw problem was picked, with its probability and draw."""

    problem_id: str
    knowledge: str  # the piece within which it was compared
    length: float  # L_q
    rank: int  # 0 for the longest of the piece
    n_problems: int  # of the piece
    quota: int  # N_k
    probability: float  # [0, 1]
    draw: float  # in [0, 1); picked if below the probability
    picked: bool


def select(items: Sequence[MultiItem], seed: int) -> list[SelectionDecision]:
    """Decide for every problem, piece by piece, longest first; equal lengths by id.

    A problem is measured over all of its sub-questions. A draw depends only on the seed and the
    problem's id.
    """
    measures = _measures(items)
    pieces: dict[str, dict[str, tuple[float, ...]]] = defaultdict(dict)
    for item in items:
        knowledge = item.knowledge[0] if item.knowledge else NO_KNOWLEDGE
        pieces[knowledge][item.problem_id] = measures[item.problem_id]
    return [
        decision
        for knowledge, problems in pieces.items()
        for decision in _decide_piece(knowledge, problems, seed)
    ]


def uniform_draw(seed: int, name: str) -> float:
    """Draw a number in [0, 1) that depends only on the seed and a name."""
    return int.from_bytes(sha256(f"{seed}/{name}".encode()).digest()[:6]) / 2**48


def quota(n_problems: int) -> int:
    """N_k: problems to pick of a knowledge piece, by the decimal logarithm of its size.

    >>> [quota(n) for n in (1, 10, 100, 1000)]
    [0, 3, 6, 9]
    """
    return ceil(_ALPHA * log10(n_problems))


def probability(rank: int, n_problems: int) -> float:
    """Pr[pick up q]: 1 for the longest and, from a quota of 2, the shortest, else by the quota.

    >>> [probability(rank, 100) for rank in (0, 1, 99)]
    [1.0, 0.04, 1.0]
    """
    n_k = quota(n_problems)
    m = min(1, n_k // 2)
    if rank == 0 or rank >= n_problems - m:
        return 1.0
    return max(0, n_k - 2 * m) / n_problems


def normalize_measure(value: float, average: float) -> float:
    """H: a measure relative to its average within a knowledge piece; 0 if either is 0."""
    if value == 0 or average == 0:
        return 0.0
    return 2 / (value / average + average / value)


def _measures(items: Sequence[MultiItem]) -> Mapping[str, tuple[float, ...]]:
    """Count characters of question, answer and analysis, then images in each, by problem."""
    items_by_problem: dict[str, list[MultiItem]] = defaultdict(list)
    for item in items:
        items_by_problem[item.problem_id].append(item)
    measures = {}
    for problem_id, problem_items in items_by_problem.items():
        texts_of_parts = (
            [problem_items[0].general, *(item.specific for item in problem_items)],
            [item.answer for item in problem_items],
            [item.analysis for item in problem_items],
        )
        n_characters = [
            float(sum(len(IMAGE_TOKEN.sub("", text)) for text in texts)) for texts in texts_of_parts
        ]
        n_images = [
            float(sum(len(IMAGE_TOKEN.findall(text)) for text in texts)) for texts in texts_of_parts
        ]
        measures[problem_id] = (*n_characters, *n_images)
    return measures


def _decide_piece(
    knowledge: str, measures: Mapping[str, tuple[float, ...]], seed: int
) -> list[SelectionDecision]:
    """Decide for the problems of one knowledge piece; ``measures`` are by problem."""
    lengths = _lengths(measures)
    longest_first = sorted(lengths, key=lambda problem_id: (-lengths[problem_id], problem_id))
    n_problems = len(longest_first)
    decisions = []
    for rank, problem_id in enumerate(longest_first):
        pick_probability = probability(rank, n_problems)
        draw = uniform_draw(seed, problem_id)
        decisions.append(
            SelectionDecision(
                problem_id=problem_id,
                knowledge=knowledge,
                length=lengths[problem_id],
                rank=rank,
                n_problems=n_problems,
                quota=quota(n_problems),
                probability=pick_probability,
                draw=draw,
                picked=draw < pick_probability,
            )
        )
    return decisions


def _lengths(measures: Mapping[str, tuple[float, ...]]) -> Mapping[str, float]:
    """L_q: the weighted sum of the six normalised measures."""
    n = len(measures)
    averages = [sum(column) / n for column in zip(*measures.values(), strict=True)]
    return {
        problem_id: sum(
            weight * normalize_measure(value, average)
            for weight, value, average in zip(_WEIGHTS * 2, values, averages, strict=True)
        )
        for problem_id, values in measures.items()
    }
