"""Turns pairs into questions."""

from collections.abc import Iterable, Mapping

from bench_assets.core.rows import Edition, ImageText, Question, StoredImage
from bench_assets.suites.codis.source import Pair


def to_questions(
    pairs: Iterable[Pair], images: Mapping[str, StoredImage], edition: Edition
) -> list[Question]:
    """Ask each pair twice, once in each context (section 3.2).

    Args:
        pairs: The selected ones.
        images: Stored pictures by the name that pairs know them by.
        edition: ``"published"``, ``"own"``, ``"built"`` or ``"mini"``.
    """
    return [
        Question(
            question_id=f"codis/{pair.pair_id}/{half}",
            task="codis",
            edition=edition,
            kind="text",
            text=pair.question,
            answer=(answer,),
            images=(images[pair.image].sha256,),
            options=pair.answers,
            context=context,
            category=pair.category,
            group_id=pair.pair_id,
            labels={"image": pair.image},
        )
        for pair in pairs
        for half, (context, answer) in enumerate(zip(pair.contexts, pair.answers, strict=True), 1)
    ]


def to_image_texts(
    captions: Mapping[str, str], images: Iterable[StoredImage], author: str
) -> list[ImageText]:
    """Attach captions to the stored pictures that they are about, in the order of the pictures.

    Args:
        captions: By picture name; those of pictures that are not there are left out.
        images: All stored pictures.
        author: Where the captions come from.
    """
    return [
        ImageText(image=image.sha256, text=captions[image.name], author=author)
        for image in images
        if image.name in captions
    ]
