"""IQ test: which image continues the pattern? (section 3.2).

Raw data: ``puzzles.jsonl`` with ``id``, ``image`` (a path below the folder; the examples and the
images A to D are in it), ``answer`` ("A" to "D") and ``explanation``. Puzzles are made by hand,
and so is the order of their images.
"""

from pathlib import Path
from random import Random

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import Entry, field, read_lines
from bench_assets.suites.blink.dataset.draft import Candidates, Draft, DraftView, Marks, wording
from bench_assets.suites.blink.raw_formats.image_folders import image_file

_OPTIONS = ("picture A", "picture B", "picture C", "picture D")


def build(source: Path, rng: Random) -> Candidates:
    """Ask about each puzzle, in drawn order.

    Raises:
        SourceError: If the list is missing or a line is not of the form above; names it.
    """
    entries = list(read_lines(source / "puzzles.jsonl"))
    for entry, where in rng.sample(entries, len(entries)):
        yield _draft(source, entry, where)


def _draft(source: Path, entry: Entry, where: str) -> Draft:
    answer = field(entry, "answer", str, where)
    if answer not in ("A", "B", "C", "D"):
        raise SourceError(f"{where}: field 'answer' is {answer!r}, expected 'A', 'B', 'C' or 'D'")
    image = image_file(source, field(entry, "image", str, where), where)

    def show(place: int, marks: Marks) -> DraftView:
        return DraftView(asked=wording("IQ_Test"), images=(image.read_bytes(),), options=_OPTIONS)

    return Draft(
        entry=f"puzzles.jsonl, id {field(entry, 'id', str, where)}",
        originals=(image,),
        n_options=4,
        places=("ABCD".index(answer),),
        show=show,
        labels={"explanation": field(entry, "explanation", str, where)},
    )
