"""Questions with their pictures, small enough to lie in an event of the UI."""

import base64
import io
from collections.abc import Sequence

import dagster as dg

from bench_assets.core.choices import lettered
from bench_assets.core.markdown import as_text
from bench_assets.core.rows import Question
from resources.pictures.images import ImageStore

_SIDE = 120  # px; six thumbnails stay under 40 KB, and metadata is kept for every materialization


def question_preview(
    questions: Sequence[Question], images: ImageStore, n: int = 6
) -> dict[str, dg.MetadataValue]:
    """Show questions spread evenly over the table, as a person would look at them.

    Texts are shown as they are written, whatever they hold; pictures are data, not addresses.
    """
    step = max(1, len(questions) // n)
    lines = [
        "| id | pictures | context | question | options | answer |",
        "|---|---|---|---|---|---|",
    ]
    for question in questions[::step][:n]:
        pictures = " ".join(_thumbnail(image, images) for image in question.images)
        options = lettered(question.options) if question.kind in ("choice", "choices") else ""
        texts = [question.context, question.text, options, " / ".join(question.answer)]
        cells = [as_text(question.question_id), pictures, *map(as_text, texts)]
        lines.append(f"| {' | '.join(cells)} |")
    return {"questions": dg.MetadataValue.md("\n".join(lines))}


def _thumbnail(digest: str, images: ImageStore) -> str:
    picture = images.open_if_whole(digest)
    if picture is None:
        return "(cannot be shown)"
    picture.thumbnail((_SIDE, _SIDE))
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=70)
    return f"![picture](data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode()})"
