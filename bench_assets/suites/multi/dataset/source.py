"""Files of a MULTI folder, and their rows.

* **published** (OpenDFM/MULTI-Benchmark on the hub, unzipped): ``problem_*.json`` with or without
  answers, or the hub's list variant; optionally ``knowledge_*.json``, ``hard_list_*.json``
  (MULTI-Elite), ``captions_*_blip.csv``, ``ocr_*_easyocr.csv``; and ``images/``;
* **raw** (section 3.2): ``raw_problems.json``, in the same form with a ``format`` ("html",
  "markdown" or "text") for each problem; ``annotations.json`` (see ``construction.decisions``);
  and ``knowledge_*.json``, ``captions_*_blip.csv`` and ``images/`` as above.

A problem is an object ``{problem_content, problem_content_list, problem_type_list,
problem_answer_list, problem_analysis_list, img_paths, knowledge, education, subject, difficulty,
quality}`` under its id; the lists hold one entry for each of its sub-questions.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import SourceFile
from bench_assets.core.tables.build import Table
from bench_assets.core.tables.json_records import Entry, LocatedEntry, read_json, require_field
from bench_assets.core.tables.source_folder import image_files, pin

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiRelease:
    """Files of a folder that belong to the suite; None for missing ones."""

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
    """Find the files of a folder, published or raw.

    A problem file with answers is preferred to one without ("_release"), the keyed form to the
    hub's list ("_hf").

    Raises:
        SourceError: If its files are published and raw, neither, incomplete or in two versions.
    """
    raw, annotations = folder / "raw_problems.json", folder / "annotations.json"
    files = sorted(folder.glob("problem_*.json"), key=_version_rank)
    if raw.is_file() and files:
        raise SourceError(f"{folder}: holds {raw.name} and {files[0].name}. Remove one of them")
    if raw.is_file() and not annotations.is_file():
        raise SourceError(f"{folder}: {raw.name} without {annotations.name}; both are needed")
    if not raw.is_file() and not files:
        raise SourceError(
            f"{folder}: no MULTI data: expected problem_*.json and images/ (the authors' release), "
            "or raw_problems.json, annotations.json and images/ (an edition to be built)"
        )
    if len(files) > 1 and _version_rank(files[0]) == _version_rank(files[1]):
        raise SourceError(f"{folder}: holds {files[0].name} and {files[1].name}; keep one version")
    return MultiRelease(
        folder=folder,
        problems=files[0] if files else raw,
        annotations=annotations if raw.is_file() else None,
        knowledge=_find_single(folder, "knowledge_*.json"),
        hard_list=_find_single(folder, "hard_list_*.json"),
        captions=_find_single(folder, "captions_*_blip.csv"),
        ocr=_find_single(folder, "ocr_*_easyocr.csv"),
    )


def source_files(release: MultiRelease) -> list[SourceFile]:
    """List the files that belong to the suite with their digests, sorted by path."""
    release_files = (release.problems, release.annotations, release.knowledge, release.hard_list)
    files = [file for file in (*release_files, release.captions, release.ocr) if file]
    return pin([*files, *image_files(release.images).values()], release.folder)


def _version_rank(file: Path) -> tuple[bool, bool]:
    """Sort key of problem files; the preferred version comes first."""
    return "_release" in file.stem, file.stem.endswith("_hf")


def _find_single(folder: Path, pattern: str) -> Path | None:
    """Find the only file of a pattern; None without one."""
    files = sorted(folder.glob(pattern))
    if len(files) > 1:
        raise SourceError(f"{folder}: holds {files[0].name} and {files[1].name}; keep one version")
    return files[0] if files else None


def read_keyed(file: Path, id_field: str, make: Callable[[str, Entry, str], Row]) -> Table[Row]:
    """Read objects under their ids, or a list of objects that hold their id (the hub's variant).

    Invalid objects, and a second one with the same id, are rejected.

    Args:
        file: UTF-8.
        id_field: Field of the id in a list.
        make: Makes a row of an id, its object, and its location for messages.

    Raises:
        SourceError: If the file cannot be read, or is neither.
    """
    value = read_json(file)
    if not isinstance(value, list | dict):
        raise SourceError(f"{file}: expected an object or a list of entries, found {value!r:.60}")
    entries = value.items() if isinstance(value, dict) else enumerate(value, 1)
    table, seen_ids = Table[Row](), set[str]()
    for entry_key, entry in entries:
        where = f"{file}, entry {entry_key}"
        with table.rejecting(where):
            fields = LocatedEntry(entry, where).entry
            if isinstance(entry_key, str):
                row_id = entry_key
            else:
                row_id = require_field(fields, id_field, str, where)
            if row_id in seen_ids:
                raise SourceError(f"{where}: duplicate id {row_id!r}. Remove one of them")
            seen_ids.add(row_id)
            table.rows.append(make(row_id, fields, where))
    return table


FORMATS = ("html", "markdown", "text")  # of raw problems
TYPES = {"单选": "SA", "多选": "MA", "填空": "FB", "解答": "OP", "其他": "Other"}
"""The five question types: name in the release -> name in the paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiItem:
    """A sub-question with its labels and the general part of its problem."""

    item_id: str  # "czsx_0_0": the problem's id and the number of the sub-question
    problem_id: str
    general: str  # what all sub-questions of the problem share; may be empty
    specific: str
    type: str  # one of the values of TYPES
    answer: str  # as written: "B", "BD", one line per blank, or a text; "" if withheld
    analysis: str = ""
    images: tuple[str, ...] = ()  # file names below images/; [IMAGE_1] stands for the first
    knowledge: tuple[str, ...] = ()  # names of knowledge pieces; the first counts
    education: str = ""  # 初中, 高中, 大学 or 社会
    subject: str = ""
    difficulty: str = ""  # a number, by the annotators; "" if they gave none
    quality: str = ""
    format: str = "markdown"  # "html" and "text" only in raw material
    lost: str = ""  # characters lost in preparation; "" if it went well

    @property
    def text(self) -> str:
        """General and specific part, as a model reads them."""
        return "\n".join(part for part in (self.general, self.specific) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """A piece of MULTI-Extend (section 3.4)."""

    name: str
    content: str
    images: tuple[str, ...] = ()  # file names below images/


def read_items(release: MultiRelease) -> Table[MultiItem]:
    """Read every sub-question in file order; 18,430 in the release.

    A missing analysis, image list, subject or knowledge is empty; a plain text is a list of one.
    A problem with an invalid field is rejected.

    Raises:
        SourceError: If the file is invalid; names it.
    """
    problems = read_keyed(release.problems, "problem_id", _items)
    items = [item for problem_items in problems.rows for item in problem_items]
    return Table(rows=items, rejections=problems.rejections, errors=problems.errors)


def read_knowledge(release: MultiRelease) -> Table[Knowledge]:
    """Read the pieces of MULTI-Extend; none without the file."""
    if release.knowledge is None:
        return Table()
    return read_keyed(release.knowledge, "knowledge", _knowledge)


def _knowledge(name: str, entry: Entry, where: str) -> Knowledge:
    return Knowledge(
        name=name,
        content=require_field(entry, "knowledge_content", str, where),
        images=tuple(map(image_name, _texts(entry, "knowledge_images", where))),
    )


def read_hard_list(file: Path | None) -> Table[str]:
    """Read the ids of MULTI-Elite from a JSON list; other entries are rejected.

    Args:
        file: UTF-8; None: no ids.

    Raises:
        SourceError: If the file is not a list, or none of its entries is a text.
    """
    if file is None:
        return Table()
    value = read_json(file)
    if not isinstance(value, list) or (value and not any(isinstance(text, str) for text in value)):
        raise SourceError(f"{file}: expected a list of texts, found {value!r:.60}")
    table = Table[str]()
    for number, text in enumerate(value, 1):
        where = f"{file}, entry {number}"
        with table.rejecting(where):
            table.rows.append(require_field({"id": text}, "id", str, where))
    return table


def read_image_texts(file: Path | None) -> Table[tuple[str, str]]:
    """Read captions or OCR texts of images: lines ``path,text``, split at the first comma.

    Of several texts of an image the last counts; an empty one is left out.

    Args:
        file: UTF-8; None: no texts. A line without a comma is rejected.

    Raises:
        SourceError: If the file cannot be read, or its last line is cut off.
    """
    if file is None:
        return Table()
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{file}: cannot be read: {error}") from error
    table, texts = Table[tuple[str, str]](), dict[str, str]()
    for number, line in enumerate(lines, 1):
        path, comma, text = line.partition(",")
        where = f"{file}, line {number}"
        with table.rejecting(where):
            if not comma and line.strip():
                raise SourceError(f"{where}: expected `image,text`, found {line.strip():.60}")
            texts[image_name(path)] = text.strip()
    last_line = lines[-1]
    if last_line.strip() and "," not in last_line:  # the file was cut off
        raise table.errors[-1]
    return replace(table, rows=[(name, text) for name, text in texts.items() if text])


def image_name(path: str) -> str:
    """Return the path of an image below ``images/``.

    >>> image_name("../data/images/czls/502_1.png")
    'czls/502_1.png'
    """
    return path.replace("\\", "/").split("images/", 1)[-1]


def _items(problem_id: str, entry: Entry, where: str) -> list[MultiItem]:
    """Make the items of a problem, one per sub-question; without analyses unless all have one."""
    specifics = _texts(entry, "problem_content_list", where)
    types = _texts(entry, "problem_type_list", where)
    answers = _texts(entry, "problem_answer_list", where) or ("",) * len(specifics)
    analyses = _texts(entry, "problem_analysis_list", where)
    if not specifics or not len(specifics) == len(types) == len(answers):
        raise SourceError(
            f"{where}: questions: {len(specifics)}, types: {len(types)}, answers: {len(answers)}"
            " (expected equal numbers, at least 1)"
        )
    markup = "".join(_texts(entry, "format", where)) or "markdown"
    if markup not in FORMATS:
        raise SourceError(f"{where}: format {markup!r}, expected one of {', '.join(FORMATS)}")
    for type_name in types:
        if type_name not in TYPES:
            raise SourceError(f"{where}: unknown type {type_name!r}; known: {', '.join(TYPES)}")
    return [
        MultiItem(
            item_id=f"{problem_id}_{index}",
            problem_id=problem_id,
            general="\n".join(_texts(entry, "problem_content", where)).strip(),
            specific=specific.strip(),
            type=TYPES[types[index]],
            answer=answers[index].strip(),
            analysis=analyses[index] if len(analyses) == len(specifics) else "",
            images=tuple(map(image_name, _texts(entry, "img_paths", where))),
            knowledge=tuple(filter(None, _texts(entry, "knowledge", where))),
            education=_first_text(entry, "education", where),
            subject=_first_text(entry, "subject", where),
            difficulty=_number(entry, "difficulty", where),
            quality=_number(entry, "quality", where),
            format=markup,
        )
        for index, specific in enumerate(specifics)
    ]


def _texts(entry: Entry, name: str, where: str) -> tuple[str, ...]:
    """Read a list of texts; a text alone is a list of one."""
    value = entry.get(name)
    if value is None or value == "":
        return ()
    listed = value if isinstance(value, list) else [value]
    return tuple(require_field({name: text}, name, str, where) for text in listed)


def _first_text(entry: Entry, name: str, where: str) -> str:
    texts = _texts(entry, name, where)
    return texts[0] if texts else ""


def _number(entry: Entry, name: str, where: str) -> str:
    """Read a number or its text, and format it in the shortest form; "" without one."""
    value = entry.get(name)
    try:
        return "" if value in (None, "") else f"{float(value):g}"
    except (TypeError, ValueError, OverflowError) as error:
        raise SourceError(f"{where}: field {name!r} is {value!r:.60}, expected a number") from error
