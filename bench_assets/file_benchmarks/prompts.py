"""Prompts of file benchmarks: own or default, solved examples (few-shot), and the judge's."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from string import Formatter, ascii_uppercase
from typing import NamedTuple

from bench_assets.core.answer_types.option_answers import ChoiceAnswer
from bench_assets.core.answer_types.registry import RowAnswer
from bench_assets.core.answer_types.texts import TextAnswer
from bench_assets.core.reading.choices import MAX_OPTIONS
from bench_assets.core.schema.chat import Image, Prompt, Turn
from bench_assets.core.schema.errors import ImageError, SettingsError, SourceError
from bench_assets.core.schema.rows import Question
from bench_assets.file_benchmarks.row_files import Row
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings

FIELDS = frozenset({"question", "options", "context", "category", *ascii_uppercase[:MAX_OPTIONS]})
"""Fields of a template, besides the file's other columns."""

SHOTS = "few-shot turns"
"""Label of a question that holds its solved examples; unlikely to be the name of a column."""

TURN = "<turn>"
"""Separates the user's turns in ``Question.text``."""

_BOX = re.compile(r"\A([-\d.,]+) of [\d.]+x[\d.]+\Z")  # a box, stored with the image's size
_TURN = re.compile(rf"\s*{TURN}\s*")
_IMAGE_MARK = re.compile(r"<image(?: ?([1-9]\d?))?>")
NO_VERDICT = 'That is not what was asked for. Print "right" or "wrong", and nothing else.'
"""Sent to the judge after an unreadable verdict."""

_JUDGE = (
    "You are shown a question, its right answer and a reply. Say whether the reply gives the right "
    "answer, in whatever words. A reply that gives none, or several, is wrong.\n\n"
    "Question: {question}\n{options}Right answer: {answer}\nReply: {response}\n\n"
    'Print one word, "right" or "wrong".'
)


def fields_of(template: str) -> list[str]:
    """Names of the columns that a template uses.

    Raises:
        SettingsError: If a brace is not closed, or a column has no name.

    >>> fields_of("{question} ({level}) {{}}")
    ['question', 'level']
    """
    try:
        names = [name for _, name, _, _ in Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise SettingsError(f"prompt {template!r:.80}: {error}; write {{{{ for a brace") from error
    if "" in names:
        raise SettingsError(f"prompt {template!r:.80}: name a column between the braces")
    return names


class PromptSettings(NamedTuple):
    """Settings of a benchmark's prompts."""

    template: str = ""
    system: str = ""
    shots: bool = False  # the questions carry solved examples
    marks: bool = True  # ``<image>`` is the place of an image
    instruction: str = TextAnswer().instruction  # of questions without options


def settings_of(benchmark: FileBenchmarkSettings, answers: RowAnswer) -> PromptSettings:
    """Prompt settings of a benchmark.

    Raises:
        SettingsError: If its prompt is not a valid template.
    """
    fields_of(benchmark.prompt)  # raises if it is no template
    return PromptSettings(
        template=benchmark.prompt,
        system=benchmark.system,
        shots=bool(benchmark.shots),
        marks=benchmark.image_marks == "images",
        instruction=answers.default.instruction,
    )


def main(question: Question, settings: PromptSettings) -> Prompt:
    """Build the prompt: images replace ``<image>`` or ``<image 2>``; untagged ones come first.

    A tag without an image stays as text. ``<turn>`` begins another user turn, which is sent after
    the model's response to the one before.
    """
    text = (
        _fill_template(settings.template, question)
        if settings.template
        else _default_text(question, settings)
    )
    opening = (Turn("system", (settings.system,)),) if settings.system else ()
    shots = turns_of(question.labels.get(SHOTS, "")) if settings.shots else ()
    return Prompt((*opening, *shots, *_user_turns(text, question.images, has_marks=settings.marks)))


def no_image(question: Question, settings: PromptSettings) -> Prompt:
    """Build the prompt without the images."""
    return main(question, settings).without_images()


def number_marks(question: Question) -> Question:
    """Number the ``<image>`` marks of a question whose options are images, in reading order.

    Options can then be shuffled without changing their images.

    Raises:
        SourceError: If a mark has no image.
    """
    texts = (question.context, question.text, *question.options)
    marks = enumerate(_IMAGE_MARK.finditer("".join(texts)), 1)
    numbers = [int(mark[1] or position) for position, mark in marks]
    if invalid := [number for number in numbers if number > len(question.images)]:
        raise SourceError(
            f"<image {invalid[0]}>: no such image (the question has {len(question.images)});"
            ' image_marks = "text" keeps it as text'
        )
    if not any(map(_IMAGE_MARK.search, question.options)):
        return question
    remaining_numbers = iter(numbers)
    context, text, *options = (
        _IMAGE_MARK.sub(lambda _: f"<image {next(remaining_numbers)}>", text) for text in texts
    )
    return replace(question, context=context, text=text, options=tuple(options))


def example_turns(question: Question, settings: PromptSettings) -> tuple[Turn, ...]:
    """Build the turns of a solved example: the question in one turn, and its answer."""
    first, *other_turns = main(question, settings._replace(system="", shots=False)).turns
    parts = [part for turn in other_turns for part in ("\n\n", *turn.parts)]
    answers = (_BOX.sub(r"[\1]", text) for text in question.answer)
    answer = Turn("assistant", (", ".join(answers),))
    return Turn("user", (*first.parts, *parts)), answer


def turns_of(turns_json: str) -> tuple[Turn, ...]:
    """Read the turns of solved examples, as ``Prompt.to_json`` writes them.

    Raises:
        SourceError: If they are something else.
    """
    turns: list[Turn] = []
    try:
        for role, parts in json.loads(turns_json or "[]"):
            contents = [Image(part["image"]) if isinstance(part, dict) else part for part in parts]
            turns.append(Turn(role, tuple(contents)))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SourceError(f"label {SHOTS!r}: {turns_json!r:.60} are not turns: {error}") from error
    return tuple(turns)


def _user_turns(text: str, images: Sequence[str], *, has_marks: bool) -> Iterator[Turn]:
    """Build the user's turns, with each image at its mark; those without a mark come first."""
    unmarked, n_marks = dict(enumerate(images, 1)), 0
    turns: list[list[str | Image]] = []
    for turn_text in _TURN.split(text):
        parts: list[str | Image] = []
        end = 0
        for mark in _IMAGE_MARK.finditer(turn_text) if has_marks else ():
            n_marks += 1
            number = int(mark[1] or n_marks)
            if number <= len(images):
                parts += [turn_text[end : mark.start()], Image(images[number - 1])]
                unmarked.pop(number, None)
                end = mark.end()
        turns.append([*parts, turn_text[end:]])
    leading: list[str | Image] = [*map(Image, unmarked.values())]
    for turn in turns:
        trimmed = [part if isinstance(part, Image) else part.strip(" ") for part in turn]
        yield Turn("user", (*leading, *(part for part in trimmed if part)))
        leading = []


def judge(question: Question, response: str) -> Prompt:
    """Build the judge's prompt for a verdict on a response."""
    if question.kind == "text":
        answer = " or ".join(question.answer)
    else:
        options = dict(zip(ascii_uppercase, question.options, strict=False))
        answer = " and ".join(f"({letter}) {options[letter]}" for letter in question.answer)
    listed = f"{list_options(question.options)}\n" if any(question.options) else ""
    return Prompt.of(
        _JUDGE.format(question=question.text, options=listed, answer=answer, response=response)
    )


def list_options(options: Sequence[str]) -> str:
    r"""Write options one per line, without those that have only a letter.

    >>> list_options(("left", "", "right"))
    '(A) left\n(C) right'
    """
    lettered = zip(ascii_uppercase, options, strict=False)
    return "\n".join(f"({letter}) {option}" for letter, option in lettered if option)


def _default_text(question: Question, settings: PromptSettings) -> str:
    option_instruction = ChoiceAnswer(question.kind).instruction if question.options else ""
    instruction = option_instruction or settings.instruction
    options = f"\n{list_options(question.options)}" if any(question.options) else ""
    context = f"{question.context}\n\n" if question.context else ""
    return f"{context}{question.text}{options}\n\n{instruction}".rstrip("\n")


def _fill_template(template: str, question: Question) -> str:
    """Fill in a template; empty columns become empty text."""
    columns = dict.fromkeys(fields_of(template), "") | dict(question.labels)
    columns |= dict(zip(ascii_uppercase, question.options, strict=False))
    columns |= {
        "question": question.text,
        "options": list_options(question.options),
        "context": question.context,
        "category": question.category,
    }
    filled = ""
    for literal, name, _, _ in Formatter().parse(template):
        filled += literal
        if name is not None:
            filled += columns[name]
    return filled


@dataclass(frozen=True, slots=True, kw_only=True)
class Shots:
    """Solved examples: their turns, and the rows that they come from."""

    section: str
    turns: str = ""  # as ``Prompt.to_json`` writes them; "" for none
    rows: Mapping[str, str] = field(default_factory=dict)  # content id -> location of the row

    def prepend(self, question: Question, where: str) -> Question:
        """Put the examples before a question.

        Raises:
            SettingsError: If the question is one of them.
        """
        if not self.turns:
            return question
        if example := self.rows.get(content_id(question)):
            raise SettingsError(
                f"{self.section}, shots: {example} is the question of {where}. Examples must not "
                "be questions: take another file, or remove the row"
            )
        return replace(question, labels={**question.labels, SHOTS: self.turns})


def content_id(question: Question) -> str:
    """Derive an id from a question's content, without its answer, which may be corrected later."""
    content = [question.text, question.context, question.options, question.images]
    return sha256(json.dumps(content).encode()).hexdigest()[:12]


def read_shots(
    benchmark: FileBenchmarkSettings,
    section: str,
    rows: Iterable[Row],
    question_of: Callable[[Row, int], Question],
    settings: PromptSettings,
) -> Shots:
    """Read the solved examples: the first usable rows; of repeated questions, the first.

    Raises:
        SettingsError: If fewer than ``shots`` rows are usable.
    """
    locations: dict[str, str] = {}  # content id -> row
    turns: list[Turn] = []
    reason = ""  # of the last unusable row
    for row_index, row in enumerate(rows):
        if len(locations) == benchmark.shots:
            break
        try:
            question = question_of(row, row_index)
        except (SourceError, ImageError, SettingsError) as error:
            reason = f" ({row.where}: {error})"
            continue
        name = content_id(question)
        if name not in locations:
            locations[name] = row.where
            turns += example_turns(question, settings)
    if len(locations) < benchmark.shots:
        counts = f"expected {benchmark.shots} usable rows, got {len(locations)}"
        raise SettingsError(f"{section}, shots: {counts}{reason}")
    return Shots(section=section, turns=Prompt(tuple(turns)).to_json(), rows=locations)
