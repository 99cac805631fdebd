"""Questions with their pictures, small enough to lie in an event of the UI."""

import base64
import io
from collections.abc import Sequence

import dagster as dg

from bench_assets.core.choices import lettered
from bench_assets.core.rows import Question
from resources.pictures.images import ImageStore

_SIDE = 120  # px; six thumbnails stay under 40 KB, and metadata is kept for every materialization


def question_preview(
    questions: Sequence[Question], images: ImageStore, n: int = 6
) -> dict[str, dg.MetadataValue]:
    """Show questions spread evenly over the table, as a person would look at them."""
    step = max(1, len(questions) // n)
    lines = [
        "| id | pictures | context | question | options | answer |",
        "|---|---|---|---|---|---|",
    ]
    for question in questions[::step][:n]:
        pictures = " ".join(_thumbnail(image, images) for image in question.images)
        options = lettered(question.options) if question.kind in ("choice", "choices") else ""
        cells = [question.question_id, pictures, question.context, question.text, options]
        lines.append(f"| {' | '.join(map(_cell, [*cells, ' / '.join(question.answer)]))} |")
    return {"questions": dg.MetadataValue.md("\n".join(lines))}


def _thumbnail(digest: str, images: ImageStore) -> str:
    picture = images.open(digest)
    picture.thumbnail((_SIDE, _SIDE))
    data = io.BytesIO()
    picture.save(data, "JPEG", quality=70)
    return f"![picture](data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode()})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
