"""Makes two questions of each pair: about the drawing, and about the drawing edited."""

from collections.abc import Iterable, Mapping

from bench_assets.core.schema.rows import Edition, Question, StoredImage
from edited_pairs_bench import NAME
from edited_pairs_bench.scenes import Edit, image_name


def to_questions(
    edits: Iterable[Edit], images: Mapping[str, StoredImage], edition: Edition
) -> list[Question]:
    """Ask of both halves whether the shape has the first colour: once yes, once no."""
    return [
        Question(
            question_id=f"{NAME}/{one.id}/{part}",
            task=NAME,
            edition=edition,
            kind="text",
            text=f"Is the {one.shape} {one.before}?",
            answer=(answer,),
            images=(images[image_name(one, part)].sha256,),
            options=(),
            category=one.shape,
            group_id=f"{NAME}/{one.id}",
        )
        for one in edits
        for part, answer in (("before", "yes"), ("after", "no"))
    ]
