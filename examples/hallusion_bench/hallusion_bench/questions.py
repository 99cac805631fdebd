"""Turns entries into questions."""

from collections import Counter
from collections.abc import Mapping, Sequence

from bench_assets.core.schema.rows import Edition, Question, StoredImage
from hallusion_bench.source import Asked

YES, NO = "yes", "no"


def to_questions(
    asked: Sequence[Asked], images: Mapping[str, StoredImage], edition: Edition
) -> list[Question]:
    """Ask each entry: the question alone, with its figure if it has one.

    The answer is yes or no, then the reference that a judge model reads. ``group_id`` is the
    control pair; ``pair_size`` and ``figure_size`` say how many are asked with it, so that a part
    of a pair is never taken for the whole.

    Args:
        asked: The selected ones.
        images: Stored figures by their path.
        edition: ``"published"``, ``"own"`` or ``"mini"``.
    """
    pairs, figures = Counter(one.pair for one in asked), Counter(one.figure for one in asked)
    return [
        Question(
            question_id=f"hallusion_bench/{one.name}",
            task="hallusion_bench",
            edition=edition,
            kind="text",
            text=one.question,
            answer=(YES if one.answer == "1" else NO, one.reference),
            images=(images[one.image].sha256,) if one.image else (),
            options=(YES, NO),
            category=f"{one.category}/{one.subcategory}",
            group_id=one.pair,
            labels={
                "set": f"{one.category}/{one.subcategory}/{one.set_id}",
                "figure": one.figure,
                "figure_id": one.figure_id,
                "visual_input": one.visual_input,
                "pair_size": str(pairs[one.pair]),
                "figure_size": str(figures[one.figure]),
            },
        )
        for one in asked
    ]
