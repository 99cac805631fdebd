"""Croissant metadata (JSON-LD) of question tables.

The synthetic mini edition is exported with its questions. For other editions, the metadata only
name the table of the home, its digest and the licence.
"""

import hashlib
import json
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from bench_assets.core.schema.rows import Question
from bench_assets.core.tables.arrow import digest
from bench_assets.evaluation.suite import Suite
from bench_assets.export.collection import ExportTable, TableCollection
from bench_assets.export.tables import listed_maps, table_of
from bench_assets.export.vlmevalkit import dataset
from resources.storage.atomic_write import open_atomic

OURS = "https://www.apache.org/licenses/LICENSE-2.0"

_FORMAT = "http://mlcommons.org/croissant/1.0"
_PARQUET = "application/x-parquet"
_WORDS = (  # of Croissant's own, beside those of schema.org
    *("citeAs", "column", "extract", "field", "fileObject", "fileProperty", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
    *("references", "regex", "repeated", "replace", "separator", "source", "subField", "transform"),
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{word: f"cr:{word}" for word in _WORDS},
}
_COLUMNS = {  # of those that one field can describe
    "question_id": "The suite's name and the authors' own id.",
    "kind": "choice, choices, blanks, text or ranking.",
    "text": "What is asked.",
    "context": "What is said before it.",
    "options": "In the order shown.",
    "answer": "Letters, one per blank, references or ids, by kind.",
    "images": "SHA-256 of each image, in the order shown.",
    "category": "As the paper has it.",
    "group_id": "Questions that are scored together.",
}


def write_croissants(gathered: TableCollection, suites: dict[str, Suite], out: Path) -> list[Path]:
    """Write the metadata of each question table, and the table itself for mini editions.

    Args:
        gathered: The question tables.
        suites: Suites by name, with release and licence.
        out: Target folder; each table has a folder in it.

    Raises:
        HomeError: If a file cannot be written.
    """
    written = []
    for exam in gathered.exams():
        folder = out / dataset(exam)
        table, at = gathered.file_of(exam)
        if exam.edition == "mini":
            table, at = _parquet(exam), "questions.parquet"
            written.append(folder / "questions.parquet")
            _write(written[-1], table)
        written.append(folder / "croissant.json")
        file = _file(exam, at, hashlib.sha256(table).hexdigest())
        about = metadata(exam, suites[exam.task.suite], file)
        _write(written[-1], f"{json.dumps(about, ensure_ascii=False, indent=2)}\n".encode())
    return written


def metadata(exam: ExportTable, suite: Suite, file: dict[str, Any]) -> dict[str, Any]:
    """Describe a question table and its file."""
    is_mini, is_published = exam.edition == "mini", exam.edition == "published"
    licence = OURS if is_mini else suite.licence if is_published else ""
    title = exam.task.title + ("" if exam.name == "main" else f", {exam.name}")
    found = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": dataset(exam),
        "description": (
            f"The {len(exam.questions)} questions of {title}, {exam.edition} edition, as"
            f" bench-assets asks them. {_terms(exam.edition, suite)}"
        ),
        "conformsTo": _FORMAT,
        "version": f"{exam.task.version}.0.0+{digest(exam.questions)[:12]}",
        "creator": {"@type": "sc:Organization", "name": f"bench-assets {version('bench-assets')}"},
        "distribution": [file],
        "recordSet": [_records()],
    }
    if licence:
        found["license"] = licence
    if (address := _address(suite.release)) and is_published:
        found["url"] = address
    return found


def _terms(edition: str, suite: Suite) -> str:
    if edition == "mini":
        return "It is drawn by bench-assets, of no material of the benchmark's authors."
    if edition == "published":
        return (
            "No question is passed on here: the terms of the authors' release hold"
            f" ({suite.licence or 'see there'})."
        )
    return "No question is passed on here: the terms of what it was made of hold."


def _file(exam: ExportTable, at: str, sha256: str) -> dict[str, Any]:
    found = {
        "@type": "cr:FileObject",
        "@id": "questions.parquet",
        "name": "questions.parquet",
        "contentUrl": at,
        "encodingFormat": _PARQUET,
        "sha256": sha256,
    }
    if exam.edition != "mini":
        command = f"bench tables questions {exam.task.suite}"
        found["description"] = f"A table of a home folder, not passed on: `{command}` makes it."
    return found


def _records() -> dict[str, Any]:
    table = table_of([], Question)
    return {
        "@type": "cr:RecordSet",
        "@id": "questions",
        "name": "questions",
        "key": {"@id": "questions/question_id"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"questions/{name}",
                "name": name,
                "description": about,
                "dataType": "sc:Text",
                "repeated": bool(pa.types.is_list(table.schema.field(name).type)),
                "source": {
                    "fileObject": {"@id": "questions.parquet"},
                    "extract": {"column": name},
                },
            }
            for name, about in _COLUMNS.items()
        ],
    }


def _address(release: str) -> str:
    """Public address of a release; for a hub, its page."""
    if release.startswith("hf:"):
        return f"https://huggingface.co/datasets/{release[3:].partition('@')[0]}"
    return release.partition("#")[0]


def _parquet(exam: ExportTable) -> bytes:
    file = BytesIO()
    parquet.write_table(listed_maps(table_of(exam.questions, Question)), file)
    return file.getvalue()


def _write(path: Path, data: bytes) -> None:
    with open_atomic(path) as file:
        file.write(data)
