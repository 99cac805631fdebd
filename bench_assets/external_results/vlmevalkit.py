"""Files of VLMEvalKit: ``<model>_<dataset>.xlsx`` (or .tsv, .json), with its evaluation.

The first file has the responses. VLMEvalKit's evaluation adds ``..._result.xlsx`` with ``hit`` for
options, or files of a judge with ``score``, and the headline in ``..._acc.csv`` or
``..._score.csv``. Responses without scores are scored here: letters, yes or no, and texts by the
rules of files of questions.
"""

import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from string import ascii_uppercase
from typing import Any
from xml.etree import ElementTree

from bench_assets.core.answer_types.definition import AnswerSettings, Gold
from bench_assets.core.answer_types.options import split_options
from bench_assets.core.answer_types.registry import make_answer_type
from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import read_object, refuse_duplicate_columns
from bench_assets.external_results.results import (
    UNPACKING_ERRORS,
    ExternalMetric,
    ExternalResults,
    ExternalSample,
    category_of,
    mean_of_points,
    member_of,
    to_number,
    to_text,
    unique_samples,
)
from bench_assets.file_benchmarks.row_files import Row, read_rows
from bench_resources.config.known_benchmarks import known_benchmarks

HARNESS = "VLMEvalKit"

SUFFIXES = (".xlsx", ".tsv", ".json", ".csv")
_HEADLINES = ("_acc.csv", "_score.csv", "_score.json")
_SCORED_SUFFIX = re.compile(
    r"_(?:(?:exact_matching|[^_]+)_result|auxmatch|[^_]*gpt[^_]*(?:_score)?|score|results?)$"
)
_POINTS = ("hit", "eval_score", "score", "eval_match", "match")  # the first one present
_RESPONSE_COLUMNS = {"index", "prediction"}  # columns of a file of responses
_ALL = "Overall"  # split of all samples, if rows are splits and columns are metrics
_NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_SCORED_HERE = "(scored here)"
_MODEL_AND_TASK = 2  # parts of a name that can be split at one place only
_COLUMN = re.compile(r"[A-Z]+")
_SHEET = "xl/worksheets/sheet1.xml"

_OVERALL_COLUMNS = ("Overall", "overall", "Final Score Norm", "Final Score", "acc", "score")


def has_predictions(file: Path) -> bool:
    """Whether a row of a table has the columns of responses.

    Raises:
        SourceError: If the file is damaged.
    """
    return any(row.cells.keys() >= _RESPONSE_COLUMNS for row in _rows(file))


def read_vlmevalkit(file: Path, model: str = "") -> ExternalResults:
    """Read the responses of a model on a data set, with their scores or scored here.

    ``model`` names the model; "": as in the file's name.

    Raises:
        SourceError: If the file is damaged, has no columns ``index`` and ``prediction`` or an id
            twice, or its name does not say which model it is.
    """
    stem = _SCORED_SUFFIX.sub("", file.stem)
    scored_file = _scored_file(file, stem)
    columns, rows = _table(scored_file)
    if missing := _RESPONSE_COLUMNS - columns:
        raise SourceError(f"{scored_file}: no column {min(missing)!r}; not a file of VLMEvalKit")
    model, task = _split_name(file, stem, model)
    points_column = _points_column(rows)
    ids = {to_text(row.cells.get("question_id")) for row in rows} - {""}
    id_column = "question_id" if len(ids) == len(rows) else "index"
    samples = unique_samples((row.where, _sample(row, points_column, id_column)) for row in rows)
    if not points_column:
        samples = tuple(map(_score, samples))
    return ExternalResults(
        harness=HARNESS,
        version="" if points_column else _SCORED_HERE,
        task=task,
        model=model,
        metrics=tuple(_headline(file.with_name(stem), samples)),
        samples=samples,
    )


def _scored_file(file: Path, stem: str) -> Path:
    """A file with scores of the same responses; the given file if it is one, or there is none."""
    if file.stem != stem:
        return file
    candidates = [
        candidate
        for candidate in sorted(file.parent.glob(f"{stem}_*"))
        if candidate.suffix in SUFFIXES
        and _SCORED_SUFFIX.sub("", candidate.stem) == stem
        and candidate.stem != stem
    ]
    return next((candidate for candidate in candidates if _is_scored(candidate)), file)


def _is_scored(file: Path) -> bool:
    if file.name.endswith(_HEADLINES):
        return False
    columns, rows = _table(file)
    return "prediction" in columns and bool(_points_column(rows))


def _points_column(rows: Sequence[Row]) -> str:
    """The first column of points; "" if there is none."""
    return next((name for name in _POINTS if any(name in row.cells for row in rows)), "")


def _split_name(file: Path, stem: str, model: str) -> tuple[str, str]:
    """Split a file's name into model and data set.

    The name begins with the given model or that of a folder, the nearer of two first. Otherwise the
    data set is a known benchmark, or follows the only "_"; else the model has to be given.
    """
    folders = [folder.name for folder in file.absolute().parents[:2]]
    for name in (model, *folders):
        if name and stem.startswith(f"{name}_"):
            return name, stem.removeprefix(f"{name}_")
    parts = stem.split("_")
    task_starts = [
        index
        for index, part in enumerate(parts)
        if index and (part.casefold() in known_benchmarks() or len(parts) == _MODEL_AND_TASK)
    ]
    if model and not task_starts:
        return model, stem
    if not task_starts:
        raise SourceError(
            f"{file}: expected a name like MODEL_DATASET{file.suffix}, in a folder MODEL; name the"
            " model (--model)"
        )
    start = task_starts[0]
    return model or "_".join(parts[:start]), "_".join(parts[start:])


def _score(sample: ExternalSample) -> ExternalSample:
    """Score a response by the form of its target; one that no rule reads gets 0 points."""
    gold = Gold(kind=sample.kind, answer=sample.target, options=sample.options)
    grade = make_answer_type(None, AnswerSettings()).grade(sample.response, gold)
    answer = " | ".join(grade.read)
    return replace(sample, points=grade.points or 0.0, answer=answer, explanation=grade.reason)


def _rows(file: Path) -> Iterator[Row]:
    return read_sheet(file) if file.suffix == ".xlsx" else read_rows(file)


def _table(file: Path) -> tuple[set[str], list[Row]]:
    """Columns and rows of a table, without empty rows and cells, which are NaN in its JSON."""
    columns, rows = set[str](), list[Row]()
    for row in _rows(file):
        if row.fault:
            raise SourceError(f"{row.where}: {row.fault}")
        columns |= row.cells.keys()
        cells = {name: cell for name, cell in row.cells.items() if not _is_empty(cell)}
        if cells:
            rows.append(row._replace(cells=cells))
    return columns, rows


def _is_empty(cell: object) -> bool:
    return cell is None or (isinstance(cell, float) and isnan(cell))


def _headline(base: Path, samples: Sequence[ExternalSample]) -> Iterator[ExternalMetric]:
    """Numbers of the first file of headlines; without one, the mean of the points."""
    for ending in _HEADLINES:
        file = base.with_name(f"{base.name}{ending}")
        if file.is_file():
            yield from _reported_metrics(file)
            return
    yield from mean_of_points("accuracy", samples)


def _reported_metrics(file: Path) -> Iterator[ExternalMetric]:
    """Numbers of a table, whose rows are splits, or "Overall" and categories (HallusionBench)."""
    if file.suffix == ".json":
        rows: list[Mapping[str, Any]] = [read_object(file)]
    else:
        _, table_rows = _table(file)
        rows = [row.cells for row in table_rows]
    has_overall_row = any(row.get("split") == _ALL for row in rows)
    for row in rows:
        split = to_text(row.get("split", ""))
        numbers = {
            name: value for name, cell in row.items() if (value := to_number(cell)) is not None
        }
        if has_overall_row:
            numbers.pop("split", None)
            category = "all" if split == _ALL else split
            for name, value in numbers.items():
                yield ExternalMetric(name=name, value=value, category=category)
        else:
            yield from _accuracies(numbers, split if len(rows) > 1 else "")


def _accuracies(numbers: Mapping[str, float], split: str) -> Iterator[ExternalMetric]:
    """Accuracies of a row whose columns are categories; that of all categories first."""
    name = f"accuracy/{split}" if split else "accuracy"
    headline = next((column for column in _OVERALL_COLUMNS if column in numbers), "")
    for column in sorted(numbers, key=lambda column: column != headline):
        category = "all" if column == headline else column
        yield ExternalMetric(name=name, value=numbers[column], category=category)


def _sample(table_row: Row, points_column: str, id_column: str) -> ExternalSample:
    """Build the sample of a row; options without columns are read from the question's text."""
    row = table_row.cells
    if id_column not in row:
        raise SourceError(f"{table_row.where}: no {id_column}")
    texts = {letter: to_text(row.get(letter)) for letter in ascii_uppercase}
    option_lines = "".join(f"\n{letter}. {text}" for letter, text in texts.items() if text)
    n_options = max((n for n, text in enumerate(texts.values(), 1) if text), default=0)
    options = tuple(texts.values())[:n_options]  # "" between others, which keep their letters
    hint = f"Hint: {row['hint']}\n" if row.get("hint") else ""
    if not options:
        _, options = split_options(to_text(row.get("question")))
    return ExternalSample(
        sample_id=to_text(row[id_column]).removesuffix(".0"),
        prompt=f"{hint}{to_text(row.get('question'))}{option_lines}",
        options=options,
        target=_target(row, options),
        category=category_of(row),
        response=to_text(row.get("prediction")),
        answer=to_text(row.get("extracted", row.get("res"))),
        points=_points(row.get(points_column)),
        explanation=to_text(row.get("log")),
    )


def _target(row: Mapping[str, Any], options: Sequence[str]) -> tuple[str, ...]:
    """The right answers: letters of options, the texts of a JSON list, or one text."""
    answer = to_text(row.get("answer"))
    if options and answer and set(answer) <= set(ascii_uppercase[: len(options)]):
        return tuple(answer)
    if answer.startswith("["):
        try:
            answers = json.loads(answer)
        except (ValueError, RecursionError):
            return (answer,)
        return tuple(map(str, answers)) if isinstance(answers, list) else (answer,)
    return (answer,)


def _points(value: object) -> float | None:
    word = str(value).lower()
    return float(word == "true") if word in ("true", "false") else to_number(value)


def read_sheet(file: Path) -> Iterator[Row]:
    """Read the first sheet of an ``.xlsx`` workbook (ECMA-376, part 1, section 18).

    Rows are read by the names in the first one; empty cells are None.

    Raises:
        SourceError: If it is not such a workbook, or has two columns of one name.
    """
    try:
        with zipfile.ZipFile(file) as workbook:
            shared = _shared_texts(workbook)
            rows = _sheet_rows(ElementTree.fromstring(member_of(workbook, _SHEET)), shared)
            _, head = next(rows, ("", {}))
            refuse_duplicate_columns(head.values(), file)
            for row_number, cells in rows:
                named_cells = {name: cells.get(column) for column, name in head.items()}
                yield Row(f"{file}, row {row_number}", named_cells)
    except (*UNPACKING_ERRORS, LookupError, ElementTree.ParseError) as error:
        raise SourceError(f"{file}: cannot be read as an .xlsx workbook: {error}") from error


def _shared_texts(workbook: zipfile.ZipFile) -> list[str]:
    if "xl/sharedStrings.xml" not in workbook.namelist():
        return []
    root = ElementTree.fromstring(member_of(workbook, "xl/sharedStrings.xml"))
    return [_joined_runs(item) for item in root.iter(f"{_NAMESPACE}si")]


def _sheet_rows(
    sheet: ElementTree.Element, shared: list[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the number of each row, and its cells by their column's letters."""
    for row_index, row in enumerate(sheet.iter(f"{_NAMESPACE}row"), 1):
        cells = {}
        for cell in row.iter(f"{_NAMESPACE}c"):
            match = _COLUMN.match(cell.get("r", ""))
            text = _cell_text(cell, shared) if match else ""
            if match and text:
                cells[match[0]] = text
        yield row.get("r", str(row_index)), cells


def _cell_text(cell: ElementTree.Element, shared: list[str]) -> str:
    kind = cell.get("t")
    if kind == "inlineStr":
        return _joined_runs(cell)
    value = cell.findtext(f"{_NAMESPACE}v") or ""
    if kind == "s":
        return shared[int(value)]
    if kind == "b":
        return {"0": "False", "1": "True"}.get(value, value)
    return value


def _joined_runs(element: ElementTree.Element) -> str:
    """Join the runs of an element's text, without phonetic ones (``rPh``)."""
    phonetic = {
        run
        for phonetic_run in element.iter(f"{_NAMESPACE}rPh")
        for run in phonetic_run.iter(f"{_NAMESPACE}t")
    }
    return "".join(run.text or "" for run in element.iter(f"{_NAMESPACE}t") if run not in phonetic)
