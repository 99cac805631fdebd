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
from bench_assets.file_benchmarks.row_files import TABLES, Row, data_files, read_rows
from bench_assets.file_benchmarks.row_images import RowImages, ShownImage, StoreImage
from bench_assets.file_benchmarks.scoring import scoring_of
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings

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
        rows = self._split(benchmark)
        return self.answers.join(rows, lambda row: _id(row, benchmark)) if self.answers else rows

    def _split(self, benchmark: FileBenchmarkSettings) -> Iterator[Row]:
        paths = paths_of(benchmark)
        for row in read_rows(self.file, self.split, benchmark.header):
            question, name, answer = (
                "".join(columns_of(row.cells, benchmark, column)[:1])
                for column in ("question", "id", "answer")
            )
            yield from split_questions(row, paths, question, name, answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileQuestions:
    """Questions and rejections of a file."""

    questions: list[Question]
    rejections: list[Rejection]
    images: list[StoredImage]


class _QuestionBuilder:
    """Builds questions from rows, in order, and finds duplicate ids."""

    def __init__(
        self, benchmark: FileBenchmarkSettings, place: FileLocation, store: StoreImage
    ) -> None:
        """Start without questions; ``store`` puts an image into the image store, under a name."""
        self.benchmark, self.place = benchmark, place
        self.scoring = scoring_of(benchmark)
        self.images = RowImages(store, place.image_folder, benchmark, lambda: place.rows(benchmark))
        self._missing: frozenset[str] | None = None

    def question(self, row: Row, number: int) -> Question:
        """Build the question of a row.

        Raises:
            SourceError: If the row cannot be used.
            ImageError: If an image of it does not decode.
            SettingsError: If the settings do not fit the file.
        """
        if row.fault:
            raise SourceError(row.fault)
        cells, benchmark = row.cells, self.benchmark
        text, listed = _read_question(cells, benchmark)
        images = self.images.of(cells, row.where)
        gold = self._gold(cells, text, listed, images)
        named = columns_of(cells, benchmark, "id")
        name = text_of(cells, benchmark, "id")
        context = text_of(cells, benchmark, "context")
        if named and not name:
            raise SourceError("no id (expected one, since the file has a column for it)")
        question = Question(
            question_id="",
            task=self.place.name,
            edition="own",
            kind=gold.kind,
            text=text,
            answer=gold.answer,
            images=tuple(image.sha256 for image in images),
            options=gold.options,
            context=context if context.casefold() not in _MISSING else "",
            category=text_of(cells, benchmark, "category"),
            group_id=text_of(cells, benchmark, "group") or self._group(number),
            labels=labels_of(cells, benchmark),
        )
        if benchmark.image_marks == "images":
            question = number_marks(question)
        name = f"{name or content_id(question)}{f'/{row.part}' if row.part else ''}"
        return replace(question, question_id=f"{self.place.name}/{name}")

    def _gold(
        self,
        cells: Entry,
        text: str,
        listed: ListedOptions,
        images: Sequence[ShownImage],
    ) -> Gold:
        """Read the answer key, which may depend on options, image, unit and decimals.

        Raises:
            SourceError: If the key, or the number of decimals, cannot be read.
        """
        benchmark = self.benchmark
        keys = cells_of(cells, benchmark, "answer")
        value = keys[0] if keys and keys[0] is not None else listed.key
        options = listed.texts
        if not options and benchmark.answer_type is None:
            _refuse_letters(text, value, is_with_options=_has_options_inside(cells, benchmark))
            self._refuse_list(value)
        decimals = text_of(cells, benchmark, "decimals")
        if decimals and not decimals.isdecimal():
            raise SourceError(f"decimals: {decimals!r:.60} (expected a whole number)")
        has_letters = listed.answers == "letters"  # whatever the section says
        answers = listed.answers if has_letters else benchmark.answers or listed.answers
        context = RowContext(
            options=options,
            answers=answers,
            image_size=(images[0].width, images[0].height) if images else None,
            unit=text_of(cells, benchmark, "unit"),
            decimals=int(decimals) if decimals else None,
        )
        gold = self.scoring.answers.gold(value, context)
        if not any(options) or gold.kind == "text":
            return gold._replace(options=options)
        return _drop_missing(gold, self._missing_options(gold.options))

    def _missing_options(self, options: Sequence[str]) -> Collection[str]:
        """Texts that stand for no option; "N/A" only if it is the answer of no row of the file."""
        if _NOT_AVAILABLE not in map(str.casefold, options):
            return _MISSING
        if self._missing is None:
            answers = (cells_of(r.cells, self.benchmark, "answer") for r in self._all_rows())
            is_answer = any(_NOT_AVAILABLE in str(cells).casefold() for cells in answers)
            self._missing = _MISSING - {_NOT_AVAILABLE} if is_answer else _MISSING
        return self._missing

    def _all_rows(self) -> Iterator[Row]:
        return self.place.rows(self.benchmark)

    def _refuse_list(self, value: object) -> None:
        """Refuse a list as the answer if no setting says whether one item of it is enough.

        Raises:
            MissingSettingError: If it is such a list; names the setting.
        """
        listed = parse_list(value)
        several = isinstance(listed, list | tuple) and len(set(map(str, listed))) > 1
        if several and self.scoring.is_judgeable:
            raise MissingSettingError(
                f'the answer {value!r:.60} is a list: set answer_type to "text" (any item is '
                'right), "list" (all items), "number", "box", "point" or "json"'
            )

    def _group(self, number: int) -> str:
        size = self.benchmark.group_size
        return (
            f"rows {number - number % size + 1} to {number - number % size + size}" if size else ""
        )


def benchmark_location(name: str, file: Path, settings: Settings) -> FileLocation:
    """Location of a benchmark."""
    benchmark = settings.benchmarks[name]
    named = benchmark.image_folder
    shots_file = benchmark.shots_file
    return FileLocation(
        name=name,
        file=file,
        split=benchmark.split,
        image_folder=settings.resolve(named) if named else _parent_folder(file),
        section=settings.section(name),
        shots_file=settings.resolve(shots_file) if shots_file else file,
        answers=_answers_file(benchmark, file, settings),
    )


def _answers_file(
    benchmark: FileBenchmarkSettings, file: Path, settings: Settings
) -> AnswersFile | None:
    """Location of the file of answers: beside the questions, or as bench.toml names it."""
    if (named := benchmark.answers_file) is None:
        return None
    beside = _parent_folder(file) / named.file
    path = beside if beside.exists() else settings.resolve(named.file)
    name = answer_column(named.answer, benchmark)
    return AnswersFile(file=path, id_column=named.id, answer_column=named.answer, name=name)


def example_location(benchmark: FileBenchmarkSettings, place: FileLocation) -> FileLocation:
    """Location of the solved examples."""
    file, split = place.shots_file, benchmark.shots_split
    folder = place.image_folder if benchmark.image_folder else _parent_folder(file)
    return replace(place, file=file, split=split, image_folder=folder)


def _parent_folder(file: Path) -> Path:
    return file if file.is_dir() else file.parent


def build(
    benchmark: FileBenchmarkSettings, place: FileLocation, store: StoreImage
) -> FileQuestions:
    """Read a benchmark: every row is a question or a rejection, in the order of the file.

    Raises:
        SourceError: If the file cannot be read or is cut short, or no row can be used.
        SettingsError: If the settings name a column that no row has, or leave the meaning of most
            rows open; or if a few-shot example is a question.
    """
    building, columns = _QuestionBuilder(benchmark, place, store), dict[str, None]()
    questions, rejections = list[Question](), list[Rejection]()
    first_rows: dict[str, str] = {}  # question id -> location of its first row
    unset: list[str] = []  # rows whose meaning a setting would state
    shots, shot_images = _shots(benchmark, place, store)
    for n, row in enumerate(place.rows(benchmark)):
        columns |= dict.fromkeys(row.cells)
        record_row(row.where, {name: cell for name, cell in row.cells.items() if cell is not None})
        try:
            question = building.question(row, n)
        except SettingsError as error:
            raise SettingsError(f"{place.section}: {row.where}: {error}") from error
        except (SourceError, ImageError) as error:
            rejections.append(_reject(row.where, str(error)))
            unset += [f"{row.where}: {error}"] * isinstance(error, MissingSettingError)
            continue
        if (first := first_rows.get(question.question_id)) is None:
            first_rows[question.question_id] = row.where
            questions.append(shots.before(question, row.where))
            continue
        with_id = columns_of(row.cells, benchmark, "id")
        subject = f"id {question.question_id}" if with_id else "question"
        rejections.append(_reject(row.where, f"the same {subject} as {first}"))
    if columns:  # else no row is an object
        require_columns(benchmark, list(columns), place.section)
    if len(unset) > len(questions):  # no single row, but the file
        raise SettingsError(f"{place.section}: {unset[0]}")
    if not questions:
        raise _no_usable_row(benchmark, place, rejections, columns)
    images = [*building.images.stored, *shot_images]
    return FileQuestions(questions=questions, rejections=rejections, images=images)


def _no_usable_row(
    benchmark: FileBenchmarkSettings,
    place: FileLocation,
    rejections: Sequence[Rejection],
    columns: Collection[str],
) -> SourceError:
    first = [f"{rejection.entry}: {rejection.reason}" for rejection in rejections[:1]]
    there = f"; columns: {', '.join(columns)}" if columns else ""
    if there and not benchmark.header and place.file.suffix.lower() in TABLES:
        there += ". If that is a row, name the columns in header"
    problem = "".join(first) or "the file is empty"
    return SourceError(f"{place.file}: no usable row: {problem}{there}")


def _reject(where: str, reason: str) -> Rejection:
    record_row(where, reason=reason)
    return Rejection(entry=where, reason=reason)


def _shots(
    benchmark: FileBenchmarkSettings, place: FileLocation, store: StoreImage
) -> tuple[Shots, Sequence[StoredImage]]:
    """Read the solved examples, and their images."""
    if not benchmark.shots:
        return Shots(section=place.section), ()
    examples = example_location(benchmark, place)
    files = data_files(place.file, place.split)
    if any(file in files for file in data_files(examples.file, examples.split)):
        raise SettingsError(
            f"{place.section}, shots: examples would come from the file of the questions. Set "
            "shots_file to another file, or shots_split to another split"
        )
    building = _QuestionBuilder(benchmark, examples, store)
    settings = prompts.settings_of(benchmark, building.scoring.answers)
    rows = examples.rows(benchmark)
    shots = read_shots(benchmark, place.section, rows, building.question, settings)
    return shots, building.images.stored


def _drop_missing(gold: Gold, missing: Collection[str]) -> Gold:
    """Drop the options that stand for none, unless the answer is one of them.

    One between others becomes "" and keeps its letter, so that no other letter moves.
    """
    lettered_options = zip(ascii_uppercase, gold.options, strict=False)
    options = [
        option if letter in gold.answer or option.casefold() not in missing else ""
        for letter, option in lettered_options
    ]
    while options and not options[-1] and ascii_uppercase[len(options) - 1] not in gold.answer:
        options.pop()
    right = [options[ascii_uppercase.index(letter)] for letter in gold.answer]
    if "" in right or len(options) - options.count("") < 2:
        raise SourceError(f"options {[*gold.options]} (expected at least 2, with the right one)")
    return gold._replace(options=tuple(options))


def _read_question(cells: Entry, benchmark: FileBenchmarkSettings) -> tuple[str, ListedOptions]:
    """Read a question's text, with all its turns, and its options."""
    text = text_of(cells, benchmark, "question")
    if turns := _turns(cells_of(cells, benchmark, "turns")):
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


def _id(cells: Entry, benchmark: FileBenchmarkSettings) -> str:
    """Id of a row; "" if it has none, or none that can be used."""
    try:
        return text_of(cells, benchmark, "id")
    except SourceError:
        return ""


def _refuse_letters(text: str, gold: object, *, is_with_options: bool) -> None:
    """Refuse letters as the answer of a row without options; they would be graded as text.

    Raises:
        MissingSettingError: If the question's text holds the options; names the setting.
        SourceError: If that setting is made, and no options are found in it.
    """
    listed = parse_list(gold)
    key = listed[0] if isinstance(listed, list | tuple) and len(listed) == 1 else gold
    letters = re.fullmatch(r"\(?(?:([A-Za-z])[).]?|A?B?C?D?E?F?G?H?)", str(key).strip())
    if letters and is_with_options:
        raise SourceError(
            f"no options in the question, of which the answer is {key!r} (drawn_options if only "
            "the picture shows them)"
        )
    letter = letters and letters[1]
    if letter and ord(letter.upper()) - ord("A") < len(split_options(text)[1]):
        raise MissingSettingError(
            f"the answer is {key!r}, and the question holds options ({text!r:.60}): set columns, "
            "options to the question's column"
        )


def _turns(cells: Sequence[object]) -> list[str]:
    listed = parse_list(cells[0]) if len(cells) == 1 else list(cells)
    if listed in (None, ""):
        return []
    if not isinstance(listed, list | tuple):
        raise SourceError(f"turns {listed!r:.60} are not a list of texts")
    texts = [format_cell(option) for option in listed]
    while texts and not texts[-1]:
        texts.pop()
    if "" in texts:
        raise SourceError(f"turn {texts.index('') + 1} is empty")
    return texts


def image_files(benchmark: FileBenchmarkSettings, place: FileLocation) -> list[str]:
    """List the existing image files that rows name, sorted."""
    files = set[str]()
    for location in (place, *([example_location(benchmark, place)] if benchmark.shots else [])):
        folder = Folder(location.image_folder)
        for row in location.rows(benchmark):
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
