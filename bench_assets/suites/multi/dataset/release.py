"""Which files of a MULTI folder belong to the suite, and which route they go.

* **published** (OpenDFM/MULTI-Benchmark on the hub, unzipped): ``problem_*.json`` with or without
  answers, the hub's list variant included; optionally ``knowledge_*.json``, ``hard_list_*.json``
  (MULTI-Elite), ``captions_*_blip.csv``, ``ocr_*_easyocr.csv``; and ``images/``;
* **raw** (the route of paper section 3.2): ``raw_problems.json``, in the same form with a
  ``format`` ("html", "markdown" or "text") for each problem; ``annotations.json``, what people did
  to them in two rounds (see ``annotations``); and ``knowledge_*.json``, ``captions_*_blip.csv`` and
  ``images/`` as above.

Opens the JSON files of a release: objects under their ids, the hub's lists, lists of ids.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import SourceFile
from bench_assets.core.tables.json_records import Entry, field, parse_json
from bench_assets.core.tables.source_folder import image_files, pin


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiRelease:
    """Which files of a folder belong to the suite; None for those that are not there."""

    folder: Path
    problems: Path
    annotations: Path | None
    knowledge: Path | None
    hard_list: Path | None
    captions: Path | None
    ocr: Path | None

    @property
    def images(self) -> Path:
        """The folder of images."""
        return self.folder / "images"


def find_release(folder: Path) -> MultiRelease:
    """Tell by its files which route a folder goes.

    Of several problem files, one with answers is taken before one without ("_release"), and the
    keyed form before the hub's list ("_hf").

    Raises:
        SourceError: If it holds neither route's files, both routes', or several versions of one.
    """
    raw, annotations = folder / "raw_problems.json", folder / "annotations.json"
    found = sorted(folder.glob("problem_*.json"), key=_rank)
    if raw.is_file() and found:
        raise SourceError(f"{folder}: holds {raw.name} and {found[0].name}; take one of them away")
    if raw.is_file() and not annotations.is_file():
        raise SourceError(f"{folder}: {raw.name} without {annotations.name}; both are needed")
    if not raw.is_file() and not found:
        raise SourceError(
            f"{folder}: no MULTI data: expected problem_*.json and images/ (the authors' release), "
            "or raw_problems.json, annotations.json and images/ (an edition to be built)"
        )
    if len(found) > 1 and _rank(found[0]) == _rank(found[1]):
        raise SourceError(f"{folder}: holds {found[0].name} and {found[1].name}; keep one version")
    return MultiRelease(
        folder=folder,
        problems=found[0] if found else raw,
        annotations=annotations if raw.is_file() else None,
        knowledge=_only(folder, "knowledge_*.json"),
        hard_list=_only(folder, "hard_list_*.json"),
        captions=_only(folder, "captions_*_blip.csv"),
        ocr=_only(folder, "ocr_*_easyocr.csv"),
    )


def source_files(release: MultiRelease) -> list[SourceFile]:
    """Pin every file that belongs to the suite, sorted by path."""
    named = (release.problems, release.annotations, release.knowledge, release.hard_list)
    files = [file for file in (*named, release.captions, release.ocr) if file]
    return pin([*files, *image_files(release.images).values()], release.folder)


def _rank(file: Path) -> tuple[bool, bool]:
    return "_release" in file.stem, file.stem.endswith("_hf")


def _only(folder: Path, pattern: str) -> Path | None:
    found = sorted(folder.glob(pattern))
    if len(found) > 1:
        raise SourceError(f"{folder}: holds {found[0].name} and {found[1].name}; keep one version")
    return found[0] if found else None


def read_keyed(file: Path, id_field: str) -> Iterator[tuple[str, Entry, str]]:
    """Read objects under their ids, or a list of objects that hold their id (the hub's variant).

    Yields:
        Id, object, and where it stands, for complaints.

    Raises:
        SourceError: If the file is neither, or an id stands there twice.
    """
    value = _parsed(file)
    if not isinstance(value, list | dict):
        raise SourceError(f"{file}: expected an object or a list of entries, found {value!r:.60}")
    listed = value.items() if isinstance(value, dict) else enumerate(value, 1)
    seen: set[str] = set()
    for place, entry in listed:
        where = f"{file}, entry {place}"
        if not isinstance(entry, dict):
            raise SourceError(f"{where}: expected an object, found {entry!r:.60}")
        name = place if isinstance(place, str) else field(entry, id_field, str, where)
        if name in seen:
            raise SourceError(f"{where}: the id {name!r} stands there twice; keep one of them")
        seen.add(name)
        yield name, entry, where


def read_list(file: Path) -> list[str]:
    """Read a JSON list of texts.

    Raises:
        SourceError: If it is anything else.
    """
    value = _parsed(file)
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise SourceError(f"{file}: expected a list of texts, found {value!r:.60}")
    return value


def _parsed(file: Path) -> object:
    try:
        return parse_json(file.read_text("utf-8"))
    except SourceError as why:
        raise SourceError(f"{file}: {why}") from why
    except OSError as why:
        raise SourceError(f"{file}: cannot be read: {why.strerror}") from why
    except UnicodeDecodeError as why:
        raise SourceError(f"{file}: not UTF-8 text: {why}") from why
    except (ValueError, RecursionError) as why:
        raise SourceError(f"{file}: not JSON, or cut short: {why}") from why
