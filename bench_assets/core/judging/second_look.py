"""The second look: one further request about a response whose answer no rule reads.

It extracts the answer that the response itself gives, or says that there is none; it does not ask
the question anew. The request is text only: the options and the response, and the question where
the options do not suffice. The judgement has the criterion ``ANSWER`` and the answer as its value.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from string import ascii_uppercase
from typing import Literal, TypeAlias

from bench_assets.core.judging.verdict_requests import VerdictRequest, ask_for_verdicts
from bench_assets.core.judging.verdicts import is_truncated
from bench_assets.core.reading.blanks import read_blanks
from bench_assets.core.reading.choices import (
    MAX_OPTIONS,
    lettered,
    read_choice,
    read_choices,
    read_one_of,
)
from bench_assets.core.reading.numbers import point_decimals, read_number, read_numbers
from bench_assets.core.reading.readings import Reading
from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.reading.units import format_quantity
from bench_assets.core.reading.yes_no import read_yes_no
from bench_assets.core.schema.chat import (
    ChatModel,
    ElicitsOptions,
    Prompt,
    Request,
    Response,
    cached,
)
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.provenance import text_digest
from bench_assets.core.schema.rows import Judgement, Prediction, Question

FormKind: TypeAlias = Literal[
    "choice", "choices", "answers", "references", "number", "numbers", "yes_no", "blanks"
]
"""What a response answers with: one letter, several letters, one of the possible answers, any text
that says the same as a reference, a number, a list of numbers, yes or no, or an entry a blank."""

ANSWER = "answer"
"""Criterion of the judgement that a second look gives."""

NONE = "none"
"""Value of the judgement of a response that gives no answer."""

READER = "reader"
"""Prefix of a judge's name that reads, and does not judge: ``reader:gpt``."""

SELF = "self"
"""Reader that is the evaluated model."""

COMPLAINT = "That is not what was asked for. Reply in the form asked for, and nothing else."
"""Complaint about an unreadable reply."""

PROMPTS_FILE = Path(__file__).with_name("second_look.toml")

_LETTERED: Collection[FormKind] = ("choice", "answers", "references")
_NONE_LETTERS = ("Z", "N")
_NO_OPTION = r"\W*{}\W*(?:(?:failed(?: to [a-z ]+)?|none)\W*)?"
_CACHED_READINGS = 20_000  # responses

MakePrompt: TypeAlias = Callable[[Question, str], Prompt]


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The form of the answer to a question: how a response is read, and looked at again.

    Attributes:
        kind: What a response answers with.
        options: The options, possible answers or references; of numbers, answers in words; of
            blanks, "" for each.
        spellings: Other texts of the options, each for all of them.
        decimal_comma: Whether numbers have a decimal comma: "3,5" is else no number.
        prompt: A prompt of the benchmark's own, with a letter for none of the options.
    """

    kind: FormKind
    options: tuple[str, ...] = ()
    spellings: tuple[tuple[str, ...], ...] = ()
    decimal_comma: bool = False
    prompt: MakePrompt | None = field(default=None, compare=False)

    def read(self, response: str) -> Reading[str] | None:
        """Read the answer that a response states, or only names.

        >>> AnswerForm("choices", ("", "", "")).read("The answers are A and C.").value
        'A C'
        """
        response = point_decimals(response) if self.decimal_comma else response
        texts = (self.options, *self.spellings)
        return next(filter(None, (_read(self.kind, text, response) for text in texts)), None)

    def is_stated(self, response: str) -> bool:
        """Whether an explicit form states the answer, so that nobody has to look again."""
        reading = self.read(response)
        return reading is not None and not reading.named

    def ask(self, question: Question, response: str) -> Prompt:
        """Prompt for the answer that a response gives."""
        if self.prompt:
            return self.prompt(question, response)
        options, words = self.options[:MAX_OPTIONS], " or ".join(f'"{o}"' for o in self.options)
        # Where the options stand in the question, or are pictures, only their letters are known.
        head = "" if any(options) else f"{question.text}\n"
        fields = {
            "question": question.text,
            "options": f"{head}{lettered(options)}",
            "response": response,
            "letters": ", ".join(ascii_uppercase[: len(options)]),
            "none": self.none,
            "others": f"If it says {words} instead of a number, copy that.\n" if words else "",
            "n": len(self.options),
        }
        return Prompt.of(str(_prompts()[self.kind]["text"]).strip().format(**fields))

    def look(
        self, question: Question, prediction: Prediction, response: str, criterion: str = ANSWER
    ) -> VerdictRequest:
        """Request a look at a response as it is shown, such as the half of it.

        The verdict is whether it gives an answer; None if the reply is unreadable.
        """

        def read(reply: Response) -> str | None:
            return self.read_reply("" if is_truncated(reply) else reply.parts.answer)

        return VerdictRequest(
            question,
            prediction,
            self.ask(question, response),
            lambda reply: None if (answer := read(reply)) is None else answer != NONE,
            criterion,
            lambda reply: read(reply) or "",
            self.choices,
        )

    @property
    def none(self) -> str:
        """The letter for none of the options."""
        return next(letter for letter in _NONE_LETTERS if letter not in self.options)

    @property
    def choices(self) -> tuple[str, ...]:
        """Everything that may be replied; () if that cannot be listed."""
        if self.kind == "yes_no":
            return ("yes", "no", NONE)
        if self.kind not in _LETTERED or self.prompt:
            return ()
        return (*ascii_uppercase[: len(self.options[:MAX_OPTIONS])], self.none)

    def read_reply(self, reply: str) -> str | None:
        """Read the answer that a reader found, or ``NONE``; None if its reply is unreadable.

        >>> AnswerForm("answers", ("Up.", "Down.")).read_reply("(B)")
        'Down.'
        >>> AnswerForm("number").read_reply("12 cm"), AnswerForm("yes_no").read_reply("None.")
        ('12 cm', 'none')
        """
        text = strip_reasoning(reply)
        is_lettered = self.kind in _LETTERED
        has_letters = is_lettered or self.kind == "choices"
        if has_letters and re.fullmatch(_NO_OPTION.format(self.none), text, re.IGNORECASE):
            return NONE
        reading = read_choice(text, self.options[:MAX_OPTIONS]) if is_lettered else self.read(text)
        if reading is None or reading.named or reading.disputed:
            return NONE if re.fullmatch(rf"\W*{NONE}\W*", text, re.IGNORECASE) else None
        if self.kind in ("answers", "references"):
            return self.options[ascii_uppercase.index(reading.value)]
        return reading.value


def look_again(
    looks: Sequence[VerdictRequest], model: ChatModel, complaint: str = COMPLAINT
) -> list[list[Judgement]]:
    """Ask a reader about responses; an unreadable reply is asked for once more.

    Raises:
        ModelError: If the reader cannot be asked.
    """
    return ask_for_verdicts(looks, ConstrainedReader(model), complaint)


def looked(judgements: Sequence[Judgement]) -> Judgement | None:
    """The judgement of a second look among those of a prediction; None if there was none."""
    answers = (judgement for judgement in judgements if judgement.criterion == ANSWER)
    return next((answer for answer in answers if answer.error or not answer.by_rules), None)


def reader_name(setting: str) -> str:
    """Name of a reader as a judge."""
    return f"{READER}:{setting}"


def reader_setting(judge: str) -> str:
    """Reader of a judge's name; "" if it does not read.

    >>> reader_setting("reader:gpt"), reader_setting("gpt")
    ('gpt', '')
    """
    return judge.removeprefix(f"{READER}:") if is_reader(judge) else ""


def is_reader(judge: str) -> bool:
    """Whether a judge only reads."""
    return judge.startswith(f"{READER}:")


@cache
def prompts_digest() -> str:
    """Digest of the prompts of second looks."""
    return text_digest(PROMPTS_FILE.read_text(encoding="utf-8"))


class ConstrainedReader:
    """A model whose requests with options are constrained to them, if its engine can do that."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name, self.signature = model.name, model.signature
        able = model.elicits if isinstance(model, ElicitsOptions) else ()
        self._constrains = "constrained" in able

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order.

        Raises:
            ModelError: If the model cannot be called at all.
        """
        free = [replace(request, elicit="", options=()) for request in requests]
        if not (self._constrains and any(request.options for request in requests)):
            return self._model.response(free)
        # A model that cannot be constrained has answered before without: it is not tried again.
        known = cached(self._model).response(free)
        sent = [
            request if request.options and before.error else plain
            for request, plain, before in zip(requests, free, known, strict=True)
        ]
        try:
            return self._model.response(sent)
        except ModelError:  # such as a server that ignores the options
            self._constrains = False
            return self._model.response(free)


@lru_cache(maxsize=_CACHED_READINGS)  # a response is read when it is judged, scored and counted
def _read(kind: FormKind, options: tuple[str, ...], response: str) -> Reading[str] | None:
    return _READERS[kind](response, options)


def _read_reference(response: str, texts: Sequence[str]) -> Reading[str] | None:
    readings = (read_one_of("choice", response, [text]) for text in texts)
    return next(filter(None, readings), None)


def _read_number(response: str, words: Sequence[str]) -> Reading[str] | None:
    text = read_one_of("choice", response, words) if words else None
    if text and not text.named:
        return text
    number = read_number(response)
    return number.of(format_quantity(number.value)) if number else None


_READERS: Mapping[FormKind, Callable[[str, Sequence[str]], Reading[str] | None]] = {
    "choice": read_choice,
    "choices": read_choices,
    "answers": partial(read_one_of, "choice"),
    "references": _read_reference,
    "number": _read_number,
    "numbers": lambda response, _: read_numbers(response),
    "yes_no": lambda response, _: read_yes_no(response),
    "blanks": lambda response, blanks: read_blanks(response, len(blanks)),
}


@cache
def _prompts() -> dict[str, dict[str, str]]:
    return tomllib.loads(PROMPTS_FILE.read_text(encoding="utf-8"))
