"""Reads what experts asked about two pictures of theirs (section 3.5, external knowledge)."""

from pathlib import Path

from bench_assets.core.json_entries import field, read_lines
from bench_assets.suites.journeybench.multi_image_vqa.source import KNOWLEDGE, MultiImageItem


def read_knowledge(file: Path) -> list[MultiImageItem]:
    """Read JSON lines with ``id``, ``image1``, ``image2``, ``question`` and ``answer``.

    Raises:
        SourceError: If the file cannot be read, or a line lacks one of its fields.
    """
    return [
        MultiImageItem(
            item_id=field(entry, "id", str, where),
            question=field(entry, "question", str, where),
            answer=field(entry, "answer", str, where),
            pictures=(field(entry, "image1", str, where), field(entry, "image2", str, where)),
            category=KNOWLEDGE,
        )
        for entry, where in read_lines(file)
    ]
