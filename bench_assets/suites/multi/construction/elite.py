"""MULTI-Elite: the questions that models found hardest, by quota (section 3.3).

The paper says little; this is the notebook the authors had in their repository until 2024-02-06
(``data/select_hard_data.ipynb``), with a seed where it has none.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from random import Random

from bench_assets.core.schema.rows import Question, Score

WEIGHTS: Mapping[str, float] = {
    "GPT-4V": 63.7,
    "Qwen-VL": 38.9,
    "Gemini Vision": 53.7,
    "MOSS": 32.6,
    "VisualGLM": 31.1,
    "Gemini": 52.2,
    "ChatGPT(0613)": 40.1,
    "VisCPM": 33.4,
    "GPT-4": 50.2,
}
"""The nine runs of the notebook: each weighs as much as its own overall score."""

SCHOOL, UNIVERSITY, SOCIETY = range(3)
_COLUMNS = {"JuH": SCHOOL, "SeH": SCHOOL, "Uni": UNIVERSITY}
_TYPES = ("SA", "MA", "FB")  # "objective questions"; in the notebook's order


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """How many are taken of each subject, and how ties are broken."""

    cells: Mapping[str, tuple[int, int, int]]  # image class -> school, university, society
    factor: int = 2  # candidates for each place
    difficulty: float = 1.5  # weight of an annotator's difficulty
    quality: float = 1.0
    size: int = 500


NOTEBOOK = Quotas(cells={"SI": (50, 15, 50), "NI": (30, 10, 5), "MI": (10, 5, 10)})
"""The last version of the notebook: 1,629 candidates for 500 places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EliteChoice:
    """What became of one question on the way to MULTI-Elite."""

    question_id: str
    type: str
    images: str  # NI, SI or MI
    subject: str  # two letters of the id: "sx" for mathematics, "dx" for all of university
    hardness: float  # sum of the weights of the points that models lost on it
    merit: float  # difficulty and quality, weighted
    candidate: bool
    selected: bool


def hardness(
    questions: Iterable[Question],
    scores: Iterable[Score],
    weights: Mapping[str, float],
) -> dict[str, float]:
    """Add up, over models, weight times the share of a question's points that was lost.

    The notebook meant to skip models that see no image where there are some and, by a mistake,
    did not: neither do we.

    Args:
        questions: All of them.
        scores: Of any models; those without a weight are not looked at.
        weights: By model.
    """
    found = {question.question_id: 0.0 for question in questions}
    for score in scores:
        if score.question_id in found and score.max_points > 0:
            lost = 1 - (score.points or 0.0) / score.max_points
            found[score.question_id] += weights.get(score.model, 0.0) * lost
    return found


def choose(
    questions: Sequence[Question], hard: Mapping[str, float], quotas: Quotas, seed: int
) -> list[EliteChoice]:
    """Choose by quota within each image class and subject, then at random among candidates.

    In a bucket with quota T the hardest ceil(T/4) MA and floor(T/4) FB questions are candidates,
    and as many SA questions as are then missing; equally hard ones go by merit.
    """
    rng = Random(f"multi/elite/{seed}")
    buckets: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for question in questions:
        if question.category in _TYPES:
            buckets[question.labels["images"], subject_code(question.question_id)].append(question)
    candidates: list[str] = []
    for images, code in sorted(buckets):
        bucket = buckets[images, code]
        column = _COLUMNS.get(bucket[0].labels["level"], SOCIETY)
        wanted = quotas.factor * quotas.cells[images][column]
        candidates += _hardest(bucket, hard, quotas, wanted, rng)
    rng.shuffle(candidates)
    named, selected = set(candidates), set(candidates[: quotas.size])
    return [
        EliteChoice(
            question_id=question.question_id,
            type=question.category,
            images=question.labels["images"],
            subject=subject_code(question.question_id),
            hardness=hard[question.question_id],
            merit=_merit(question, quotas),
            candidate=question.question_id in named,
            selected=question.question_id in selected,
        )
        for question in questions
    ]


def subject_code(question_id: str) -> str:
    """Read the subject off an id: the last two letters before the number, "dx" for university.

    >>> subject_code("multi/czsx_0_0"), subject_code("multi/dxcs_1_0")
    ('sx', 'dx')
    """
    code = question_id.removeprefix("multi/").split("_")[0]
    return "dx" if code.startswith("dx") else code[-2:]


def _hardest(
    bucket: Sequence[Question],
    hard: Mapping[str, float],
    quotas: Quotas,
    wanted: int,
    rng: Random,
) -> list[str]:
    shuffled = rng.sample(bucket, len(bucket))
    ordered = sorted(shuffled, key=lambda q: (-hard[q.question_id], -_merit(q, quotas)))
    single, multiple, blank = (
        [question.question_id for question in ordered if question.category == kind]
        for kind in _TYPES
    )
    taken = multiple[: ceil(wanted / 4)] + blank[: wanted // 4]
    return taken + single[: wanted - len(taken)]


def _merit(question: Question, quotas: Quotas) -> float:
    difficulty, quality = (float(question.labels[name] or 0) for name in ("difficulty", "quality"))
    return quotas.difficulty * difficulty + quotas.quality * quality
