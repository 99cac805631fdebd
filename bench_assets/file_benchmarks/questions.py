"""Builds questions from the rows of a file, and rejections from unusable rows."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from string import ascii_uppercase

from bench_assets.core.answer_types.definition import Gold, RowContext
from bench_assets.core.answer_types.options import (
    ListedOptions,
    format_cell,
    parse_list,
    read_options,
    split_options,
)
from bench_assets.core.schema.errors import ImageError, SettingsError, SourceError
from bench_assets.core.schema.rows import Question, Rejection, StoredImage
from bench_assets.core.tables.json_records import Entry
from bench_assets.core.tables.read_rows import record_row
from bench_assets.file_benchmarks import prompts
from bench_assets.file_benchmarks.answers_file import AnswersFile
from bench_assets.file_benchmarks.columns import (
    MissingSettingError,
    answer_column,
    cells_of,
    columns_of,
    labels_of,
    require_columns,
    text_of,
)
from bench_assets.file_benchmarks.images import Folder, images_of
from bench_assets.file_benchmarks.nested_columns import paths_of, split_questions
from bench_assets.file_benchmarks.prompts import TURN, Shots, content_id, number_marks, read_shots
from bench_assets.file_benchmarks.row_files import DELIMITERS, Row, data_files, read_rows
from bench_assets.file_benchmarks.row_images import RowImages, ShownImage, StoreImage
from bench_assets.file_benchmarks.scoring import scoring_of
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import Column, FileBenchmarkSettings

_NOT_AVAILABLE = "n/a"
_MISSING = frozenset({"", "nan", _NOT_AVAILABLE})  # how tables write an empty cell, in lower case
_OPTION_REFERENCE = re.compile(
    r"\bof the (?:above|below|others?)\b|\b(?-i:[A-Z] (?:and|or|nor) [A-Z])\b|\([A-Z]\)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLocation:
    """Name of a benchmark, and the location of its files and settings."""

    name: str
    file: Path  # or folder
    split: str = ""
    image_folder: Path  # root of relative image paths
    section: str  # location of its settings: "bench.toml, [benchmarks.fridge]"
    shots_file: Path  # file or folder of solved examples
    answers: AnswersFile | None = None

    def rows(self, benchmark: FileBenchmarkSettings) -> Iterator[Row]:
        """Read all rows, one per question, with their answers if another file holds them."""
        rows = self._split_rows(benchmark)
        if self.answers is None:
            return rows
        return self.answers.join(rows, lambda cells: _row_id(cells, benchmark))

    def _split_rows(self, benchmark: FileBenchmarkSettings) -> Iterator[Row]:
        paths = paths_of(benchmark)
        for row in read_rows(self.file, self.split, benchmark.header):
            yield from split_questions(
                row,
                paths,
                question_column=_first_column(row.cells, benchmark, "question"),
                id_column=_first_column(row.cells, benchmark, "id"),
                answer_column=_first_column(row.cells, benchmark, "answer"),
            )


def _first_column(cells: Entry, benchmark: FileBenchmarkSettings, field: Column) -> str:
    columns = columns_of(cells, benchmark, field)
    return columns[0] if columns else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuestions:
    """Questions and rejections of a file."""

    questions: list[Question]
    rejections: list[Rejection]
    images: list[StoredImage]


class _QuestionBuilder:
    """Builds the questions of rows, in order."""

    def __init__(
        self, benchmark: FileBenchmarkSettings, location: FileLocation, store: StoreImage
    ) -> None:
        """Start without questions; ``store`` puts an image into the image store, under a name."""
        self.benchmark, self.location = benchmark, location
        self.scoring = scoring_of(benchmark)
        self.images = RowImages(
            store, location.image_folder, benchmark, lambda: location.rows(benchmark)
        )
        self._missing: frozenset[str] | None = None

    def build_question(self, row: Row, row_index: int) -> Question:
        """Build the question of a row; consecutive rows may form a group.

        Raises:
            SourceError: If the row cannot be used.
            ImageError: If an image of it does not decode.
            SettingsError: If the settings do not fit the file.
        """
        if row.fault:
            raise SourceError(row.fault)
        cells, benchmark = row.cells, self.benchmark
        text, listed_options = _read_question(cells, benchmark)
        images = self.images.store_row(cells, row.where)
        gold = self._read_key(cells, text, listed_options, images)
        row_id = text_of(cells, benchmark, "id")
        context = text_of(cells, benchmark, "context")
        if columns_of(cells, benchmark, "id") and not row_id:
            raise SourceError("no id (expected one, since the file has a column for it)")
        question = Question(
            question_id="",
            task=self.location.name,
            edition="own",
            kind=gold.kind,
            text=text,
            answer=gold.answer,
            images=tuple(image.sha256 for image in images),
            options=gold.options,
            context=context if context.casefold() not in _MISSING else "",
            category=text_of(cells, benchmark, "category"),
            group_id=text_of(cells, benchmark, "group") or self._group_id(row_index),
            labels=labels_of(cells, benchmark),
        )
        if benchmark.image_marks == "images":
            question = number_marks(question)
        part = f"/{row.part}" if row.part else ""
        question_id = f"{self.location.name}/{row_id or content_id(question)}{part}"
        return replace(question, question_id=question_id)

    def _read_key(
        self, cells: Entry, text: str, listed: ListedOptions, images: Sequence[ShownImage]
    ) -> Gold:
        """Read the answer key, which may depend on options, image, unit and decimals."""
        benchmark = self.benchmark
        answer_cells = cells_of(cells, benchmark, "answer")
        has_answer = bool(answer_cells) and answer_cells[0] is not None
        key = answer_cells[0] if has_answer else listed.key
        options = listed.texts
        if not options and benchmark.answer_type is None:
            _refuse_letters(text, key, has_options=_has_options_inside(cells, benchmark))
            self._refuse_list(key)
        has_letters = listed.answers == "letters"  # whatever the section says
        context = RowContext(
            options=options,
            answers="letters" if has_letters else benchmark.answers or listed.answers,
            image_size=(images[0].width, images[0].height) if images else None,
            decimals=_decimals(cells, benchmark),
            unit=text_of(cells, benchmark, "unit"),
        )
        gold = self.scoring.answers.gold(key, context)
        if not any(options) or gold.kind == "text":
            return gold._replace(options=options)
        return _drop_missing(gold, self._missing_options(gold.options))

    def _missing_options(self, options: Sequence[str]) -> Collection[str]:
        """Texts that stand for no option; "N/A" only if it is the answer of no row of the file."""
        if _NOT_AVAILABLE not in map(str.casefold, options):
            return _MISSING
        if self._missing is None:
            rows = self.location.rows(self.benchmark)
            answers = (cells_of(row.cells, self.benchmark, "answer") for row in rows)
            is_answer = any(_NOT_AVAILABLE in str(cells).casefold() for cells in answers)
            self._missing = _MISSING - {_NOT_AVAILABLE} if is_answer else _MISSING
        return self._missing

    def _refuse_list(self, key: object) -> None:
        """Refuse a list as the answer if no setting says whether one item of it is enough."""
        answers = parse_list(key)
        has_several = isinstance(answers, list | tuple) and len(set(map(str, answers))) > 1
        if has_several and self.scoring.is_judgeable:
            raise MissingSettingError(
                f'the answer {key!r:.60} is a list: set answer_type to "text" (any item is '
                'right), "list" (all items), "number", "box", "point" or "json"'
            )

    def _group_id(self, row_index: int) -> str:
        size = self.benchmark.group_size
        if not size:
            return ""
        n_before = row_index - row_index % size
        return f"rows {n_before + 1} to {n_before + size}"


def benchmark_location(name: str, file: Path, settings: Settings) -> FileLocation:
    """Location of a benchmark."""
    benchmark = settings.benchmarks[name]
    image_folder, shots_file = benchmark.image_folder, benchmark.shots_file
    return FileLocation(
        name=name,
        file=file,
        split=benchmark.split,
        image_folder=settings.resolve(image_folder) if image_folder else _parent_folder(file),
        section=settings.section(name),
        shots_file=settings.resolve(shots_file) if shots_file else file,
        answers=_answers_file(benchmark, file, settings),
    )


def _answers_file(
    benchmark: FileBenchmarkSettings, file: Path, settings: Settings
) -> AnswersFile | None:
    """Location of the file of answers: beside the questions, or as bench.toml names it."""
    answers = benchmark.answers_file
    if answers is None:
        return None
    beside = _parent_folder(file) / answers.file
    path = beside if beside.exists() else settings.resolve(answers.file)
    name = answer_column(answers.answer, benchmark)
    return AnswersFile(file=path, id_column=answers.id, answer_column=answers.answer, name=name)


def example_locations(
    benchmark: FileBenchmarkSettings, location: FileLocation
) -> list[FileLocation]:
    """Location of the solved examples; empty if the benchmark has none."""
    if not benchmark.shots:
        return []
    file, split = location.shots_file, benchmark.shots_split
    folder = location.image_folder if benchmark.image_folder else _parent_folder(file)
    return [replace(location, file=file, split=split, image_folder=folder)]


def _parent_folder(file: Path) -> Path:
    return file if file.is_dir() else file.parent


def build(
    benchmark: FileBenchmarkSettings, location: FileLocation, store: StoreImage
) -> FileQuestions:
    """Read a benchmark: every row is a question or a rejection, in the order of the file.

    Raises:
        SourceError: If the file cannot be read or is cut short, or no row can be used.
        SettingsError: If the settings do not fit the file, such as a column that no row has, or
            leave the meaning of more rows open than can be used.
    """
    builder = _QuestionBuilder(benchmark, location, store)
    columns: dict[str, None] = {}
    questions, rejections = list[Question](), list[Rejection]()
    first_rows: dict[str, str] = {}  # question id -> location of its first row
    unclear: list[str] = []  # rows whose meaning a setting would state
    shots, shot_images = _read_shots(benchmark, location, store)
    for row_index, row in enumerate(location.rows(benchmark)):
        columns |= dict.fromkeys(row.cells)
        record_row(row.where, {name: cell for name, cell in row.cells.items() if cell is not None})
        try:
            question = builder.build_question(row, row_index)
        except SettingsError as error:
            raise SettingsError(f"{location.section}: {row.where}: {error}") from error
        except (SourceError, ImageError) as error:
            rejections.append(_reject(row.where, str(error)))
            if isinstance(error, MissingSettingError):
                unclear.append(f"{row.where}: {error}")
            continue
        if first_row := first_rows.get(question.question_id):
            has_id = columns_of(row.cells, benchmark, "id")
            subject = f"id {question.question_id}" if has_id else "question"
            rejections.append(_reject(row.where, f"the same {subject} as {first_row}"))
        else:
            first_rows[question.question_id] = row.where
            questions.append(shots.prepend(question, row.where))
    require_columns(benchmark, list(columns), location.section)
    if len(unclear) > len(questions):  # the setting is missing for the file, not for single rows
        raise SettingsError(f"{location.section}: {unclear[0]}")
    if not questions:
        raise _no_usable_row_error(benchmark, location, rejections, columns)
    images = [*builder.images.stored, *shot_images]
    return FileQuestions(questions=questions, rejections=rejections, images=images)


def _no_usable_row_error(
    benchmark: FileBenchmarkSettings,
    location: FileLocation,
    rejections: Sequence[Rejection],
    columns: Collection[str],
) -> SourceError:
    problem = "the file is empty"
    if rejections:
        problem = f"{rejections[0].entry}: {rejections[0].reason}"
    if columns:
        problem += f"; columns: {', '.join(columns)}"
        if not benchmark.header and location.file.suffix.lower() in DELIMITERS:
            problem += ". If that is a row, name the columns in header"
    return SourceError(f"{location.file}: no usable row: {problem}")


def _reject(where: str, reason: str) -> Rejection:
    record_row(where, reason=reason)
    return Rejection(entry=where, reason=reason)


def _read_shots(
    benchmark: FileBenchmarkSettings, location: FileLocation, store: StoreImage
) -> tuple[Shots, Sequence[StoredImage]]:
    locations = example_locations(benchmark, location)
    if not locations:
        return Shots(section=location.section), ()
    (examples,) = locations
    files = data_files(location.file, location.split)
    if any(file in files for file in data_files(examples.file, examples.split)):
        raise SettingsError(
            f"{location.section}, shots: examples would come from the file of the questions. Set "
            "shots_file to another file, or shots_split to another split"
        )
    builder = _QuestionBuilder(benchmark, examples, store)
    settings = prompts.settings_of(benchmark, builder.scoring.answers)
    rows = examples.rows(benchmark)
    shots = read_shots(benchmark, location.section, rows, builder.build_question, settings)
    return shots, builder.images.stored


def _drop_missing(gold: Gold, missing: Collection[str]) -> Gold:
    """Drop the options that stand for none, except the answer.

    One between others becomes "", so that the others keep their letters.
    """
    lettered_options = zip(ascii_uppercase, gold.options, strict=False)
    options = [
        option if letter in gold.answer or option.casefold() not in missing else ""
        for letter, option in lettered_options
    ]
    while options and not options[-1] and ascii_uppercase[len(options) - 1] not in gold.answer:
        options.pop()
    key_options = [options[ascii_uppercase.index(letter)] for letter in gold.answer]
    if "" in key_options or len(options) - options.count("") < 2:
        raise SourceError(f"options {[*gold.options]} (expected at least 2, with the right one)")
    return gold._replace(options=tuple(options))


def _read_question(cells: Entry, benchmark: FileBenchmarkSettings) -> tuple[str, ListedOptions]:
    """Read a question's text, with all its turns, and its options."""
    text = text_of(cells, benchmark, "question")
    if turns := _read_turns(cells_of(cells, benchmark, "turns")):
        if text:
            raise SourceError("a question and turns (expected one of them)")
        text = f"\n{TURN}\n".join(turns)
    if not text:
        raise SourceError("no question")
    if _has_options_inside(cells, benchmark):
        text, options = split_options(text)
        listed = read_options([list(options)])
    else:
        listed = read_options(cells_of(cells, benchmark, "options"))
    return text, listed if listed.texts else ListedOptions(("",) * benchmark.drawn_options)


def _has_options_inside(cells: Entry, benchmark: FileBenchmarkSettings) -> bool:
    """Whether the settings say that the question's text holds the options."""
    columns = columns_of(cells, benchmark, "options")
    return bool(columns) and columns == columns_of(cells, benchmark, "question")


def _decimals(cells: Entry, benchmark: FileBenchmarkSettings) -> int | None:
    """Decimals of the answer; None if the row does not state them."""
    decimals = text_of(cells, benchmark, "decimals")
    if decimals and not decimals.isdecimal():
        raise SourceError(f"decimals: {decimals!r:.60} (expected a whole number)")
    return int(decimals) if decimals else None


def _row_id(cells: Entry, benchmark: FileBenchmarkSettings) -> str:
    """Id of a row; "" if it has none, or none that can be used."""
    try:
        return text_of(cells, benchmark, "id")
    except SourceError:
        return ""


def _refuse_letters(text: str, answer: object, *, has_options: bool) -> None:
    """Refuse letters as the answer of a row without options; they would be graded as text."""
    listed = parse_list(answer)
    key = listed[0] if isinstance(listed, list | tuple) and len(listed) == 1 else answer
    letters = re.fullmatch(r"\(?(?:([A-Za-z])[).]?|A?B?C?D?E?F?G?H?)", str(key).strip())
    if letters and has_options:
        raise SourceError(
            f"no options in the question, of which the answer is {key!r} (drawn_options if only "
            "the picture shows them)"
        )
    letter = letters[1] if letters else None
    _, options = split_options(text)
    if letter and ord(letter.upper()) - ord("A") < len(options):
        raise MissingSettingError(
            f"the answer is {key!r}, and the question holds options ({text!r:.60}): set columns, "
            "options to the question's column"
        )


def _read_turns(cells: Sequence[object]) -> list[str]:
    """Read the user's turns from one list, or one column each; drop empty ones at the end."""
    listed = parse_list(cells[0]) if len(cells) == 1 else list(cells)
    if listed in (None, ""):
        return []
    if not isinstance(listed, list | tuple):
        raise SourceError(f"turns {listed!r:.60} are not a list of texts")
    texts = [format_cell(turn) for turn in listed]
    while texts and not texts[-1]:
        texts.pop()
    if "" in texts:
        raise SourceError(f"turn {texts.index('') + 1} is empty")
    return texts


def image_files(benchmark: FileBenchmarkSettings, location: FileLocation) -> list[str]:
    """List the existing image files that rows and solved examples name, sorted."""
    files = set[str]()
    for row_location in (location, *example_locations(benchmark, location)):
        folder = Folder(row_location.image_folder)
        for row in row_location.rows(benchmark):
            try:
                images = images_of(cells_of(row.cells, benchmark, "images"), folder)
            except SourceError:
                continue  # becomes a rejection when the questions are built
            files.update(str(image) for image in images if isinstance(image, Path))
    return sorted(files)


def shuffle_all_options(questions: Sequence[Question], seed: int) -> list[Question]:
    """Shuffle the options of each question.

    Leaves out questions without listed options, those with an option that refers to others, such as
    "all of the above" or "A and B", and those whose options are letters in the picture: "Point A".
    """
    return [
        _shuffle_options(question, Random(f"{seed}\n{question.question_id}"))
        for question in questions
        if any(question.options)
        and not any(map(_OPTION_REFERENCE.search, question.options))
        and not _are_labels(question.options)
    ]


def _are_labels(options: Sequence[str]) -> bool:
    """Whether the options end with their own letters: "Point A", "Point B"."""
    last_words = [option.rpartition(" ")[2] for option in options]
    return last_words == list(ascii_uppercase[: len(options)])


def _shuffle_options(question: Question, rng: Random) -> Question:
    order = [n for n, option in enumerate(question.options) if option]
    rng.shuffle(order)
    letters = {ascii_uppercase[old]: ascii_uppercase[new] for new, old in enumerate(order)}
    return replace(
        question,
        options=tuple(question.options[old] for old in order),
        answer=tuple(sorted(letters[letter] for letter in question.answer)),
    )
