"""Forensic detection: which of four images is a photograph? (section 3.2).

Raw data: ``captions.jsonl`` with ``id``, ``caption``, ``real`` (a photograph found by hand with
the caption) and ``generated`` (three images a generator made from it), paths below the folder.
The paper takes captions of COCO and images of Stable Diffusion XL.
"""

from pathlib import Path
from random import Random

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import Entry, field, read_lines
from bench_assets.suites.blink.dataset.draft import (
    Candidates,
    Draft,
    DraftView,
    Marks,
    anywhere,
    placed,
    wording,
)
from bench_assets.suites.blink.raw_formats.image_folders import image_file

_OPTIONS = ("the first image", "the second image", "the third image", "the fourth image")


def build(source: Path, rng: Random) -> Candidates:
    """Ask for the photograph of each caption, in drawn order.

    Raises:
        SourceError: If the list is missing or a line is not of the form above; names it.
    """
    entries = list(read_lines(source / "captions.jsonl"))
    for entry, where in rng.sample(entries, len(entries)):
        yield _draft(source, entry, where)


def _draft(source: Path, entry: Entry, where: str) -> Draft:
    names = field(entry, "generated", list, where)
    if len(names) != 3 or not all(isinstance(name, str) for name in names):
        raise SourceError(f"{where}: field 'generated' is {names!r}, expected three paths")
    real = image_file(source, field(entry, "real", str, where), where)
    generated = [image_file(source, name, where) for name in names]

    def show(place: int, marks: Marks) -> DraftView:
        images = placed(real, generated, place)
        return DraftView(
            asked=wording("Forensic_Detection"),
            images=tuple(image.read_bytes() for image in images),
            options=_OPTIONS,
        )

    return Draft(
        entry=f"captions.jsonl, id {field(entry, 'id', str, where)}",
        originals=(real, *generated),
        n_options=4,
        places=anywhere(4),
        show=show,
    )
