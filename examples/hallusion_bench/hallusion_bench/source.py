"""Reads a folder in the authors' format (github.com/tianyi-lab/HallusionBench).

``HallusionBench.json`` is a list of entries ``{category, subcategory, visual_input, set_id,
figure_id, question_id, question, gt_answer_details, gt_answer, filename}``, all texts; ``filename``
is null where no figure is shown. The figures lie in ``VD/`` and ``VS/``, beside the file or in
``hallusion_bench/``, as their zip unpacks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import Entry, field, read_entries
from bench_assets.core.tables.source_folder import inside

_FILE = "HallusionBench.json"
_ZIP = "hallusion_bench"  # the folder in the authors' zip


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question about one figure, or about none (section 3.2)."""

    category: str  # "VD": visual dependent, "VS": visual supplement (section 3.1)
    subcategory: str
    visual_input: str  # "0": no figure is shown, "1": the original, "2": one that people edited
    set_id: str
    figure_id: str  # "0": what the other figures of the set are compared with
    question_id: str
    question: str
    reference: str  # the answer as a sentence
    answer: str  # "1": yes, "0": no
    image: str  # path of the figure; "" if none is shown

    @property
    def name(self) -> str:
        """The authors' own id, of five parts."""
        return "/".join(
            (self.category, self.subcategory, self.set_id, self.figure_id, self.question_id)
        )

    @property
    def pair(self) -> str:
        """What is asked with other figures too: a control pair of section 4.3.4."""
        return f"{self.category}/{self.subcategory}/{self.set_id}/{self.question_id}"

    @property
    def figure(self) -> str:
        """What other questions are asked about too."""
        return f"{self.category}/{self.subcategory}/{self.set_id}/{self.figure_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Which files of a folder belong to the suite."""

    folder: Path
    entries: Path
    images: Path


def find_release(folder: Path) -> Release:
    """Find the entries and the figures of a folder.

    Raises:
        SourceError: If one of them is missing; says what to put where.
    """
    entries = folder / _FILE
    if not entries.is_file():
        raise SourceError(f"{folder}: no {_FILE}; copy it there from the authors' repository")
    for images in (folder, folder / _ZIP):
        if (images / "VD").is_dir() or (images / "VS").is_dir():
            return Release(folder=folder, entries=entries, images=images)
    raise SourceError(
        f"{folder}: no figures: expected folders VD and VS; unpack the authors' {_ZIP}.zip there"
    )


def read_asked(release: Release) -> list[Asked]:
    """Read all entries in file order, as they are: what is wrong with one, ``select`` says.

    Raises:
        SourceError: If the file or an entry is not of the form above; names file and entry.
    """
    return [_asked(entry, where) for entry, where in read_entries(release.entries)]


def image_files(release: Release, asked: Iterable[Asked]) -> dict[str, Path]:
    """Find the figures that entries name and that are there, by their path, sorted.

    Raises:
        SourceError: If one lies outside of the folder.
    """
    names = sorted({one.image for one in asked if one.image})
    files = {name: inside(release.images, name, str(release.entries)) for name in names}
    return {name: file for name, file in files.items() if file.is_file()}


def _asked(entry: Entry, where: str) -> Asked:
    named = entry.get("filename") is not None
    path = PurePosixPath(field(entry, "filename", str, where) if named else "").as_posix()
    return Asked(
        category=field(entry, "category", str, where),
        subcategory=field(entry, "subcategory", str, where),
        visual_input=field(entry, "visual_input", str, where),
        set_id=field(entry, "set_id", str, where),
        figure_id=field(entry, "figure_id", str, where),
        question_id=field(entry, "question_id", str, where),
        question=field(entry, "question", str, where),
        reference=field(entry, "gt_answer_details", str, where),
        answer=field(entry, "gt_answer", str, where),
        image="" if path == "." else path.removeprefix(f"{_ZIP}/"),
    )
