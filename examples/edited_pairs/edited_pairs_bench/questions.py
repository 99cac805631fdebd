"""Questions of edited pairs: one about each of the two images."""

from collections.abc import Iterable, Mapping

from bench_assets.core.schema.rows import Edition, Question, StoredImage
from edited_pairs_bench import NAME
from edited_pairs_bench.scenes import Edit, image_name


def to_questions(
    edits: Iterable[Edit], images: Mapping[str, StoredImage], edition: Edition
) -> list[Question]:
    """Ask about both images whether the shape has its first colour: yes before the edit, no after.

    Args:
        edits: Edits of the scenes.
        images: Images of both parts of each edit, by ``image_name``.
        edition: Edition of all questions.
    """
    return [
        Question(
            question_id=f"{NAME}/{edit.id}/{part}",
            task=NAME,
            edition=edition,
            kind="text",
            text=f"Is the {edit.shape} {edit.before}?",
            answer=(answer,),
            images=(images[image_name(edit, part)].sha256,),
            options=(),
            category=edit.shape,
            group_id=f"{NAME}/{edit.id}",
        )
        for edit in edits
        for part, answer in (("before", "yes"), ("after", "no"))
    ]
