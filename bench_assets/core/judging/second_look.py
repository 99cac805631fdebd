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

ANSWER = "answer"  # criterion of the judgement that a second look gives
NONE = "none"  # value of the judgement of a response that gives no answer
READER = "reader"  # prefix of the name of a judge that only reads: ``reader:gpt``
SELF = "self"  # reader that is the evaluated model
COMPLAINT = "That is not what was asked for. Reply in the form asked for, and nothing else."

PROMPTS_FILE = Path(__file__).with_name("second_look.toml")

_LETTERED: Collection[FormKind] = ("choice", "answers", "references")
_NONE_LETTERS = ("Z", "N")
_NO_OPTION = r"\W*{}\W*(?:(?:failed(?: to [a-z ]+)?|none)\W*)?"
_CACHED_READINGS = 20_000  # readings of responses that are cached

MakePrompt: TypeAlias = Callable[[Question, str], Prompt]


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The form of the answer to a question: how a response is read, and looked at again."""

    kind: FormKind
    options: tuple[str, ...] = ()  # also references, or numbers in words; "" for each blank
    spellings: tuple[tuple[str, ...], ...] = ()  # other texts of the options, each for all of them
    decimal_comma: bool = False  # whether "3,5" is a number
    # Builds the benchmark's own prompt, with a letter for none of the options.
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
        """Whether an explicit form states the answer, so that no second look is needed."""
        reading = self.read(response)
        return reading is not None and not reading.named

    def make_prompt(self, question: Question, response: str) -> Prompt:
        """Build the prompt for the answer that a response gives."""
        if self.prompt:
            return self.prompt(question, response)
        options = self.options[:MAX_OPTIONS]
        words = " or ".join(f'"{option}"' for option in self.options)
        # If the options are in the question, or are pictures, only their letters are known.
        head = "" if any(options) else f"{question.text}\n"
        fields = {
            "question": question.text,
            "options": f"{head}{lettered(options)}",
            "response": response,
            "letters": ", ".join(ascii_uppercase[: len(options)]),
            "none": self.none_letter,
            "others": f"If it says {words} instead of a number, copy that.\n" if words else "",
            "n": len(self.options),
        }
        return Prompt.of(str(_prompts()[self.kind]["text"]).strip().format(**fields))

    def look(
        self, question: Question, prediction: Prediction, response: str, criterion: str = ANSWER
    ) -> VerdictRequest:
        """Build the request for a second look at a response, or at a part of it.

        The verdict is whether the response gives an answer; None if the reply is unreadable.
        """
        return VerdictRequest(
            question=question,
            prediction=prediction,
            prompt=self.make_prompt(question, response),
            read=self._finds_answer,
            criterion=criterion,
            value=lambda reply: self._read_response(reply) or "",
            choices=self.choices,
        )

    def _finds_answer(self, reply: Response) -> bool | None:
        """Whether a reader finds an answer; None if its reply is unreadable."""
        answer = self._read_response(reply)
        return None if answer is None else answer != NONE

    def _read_response(self, reply: Response) -> str | None:
        """Read a reader's reply as ``read_reply`` does; None if it was truncated."""
        return None if is_truncated(reply) else self.read_reply(reply.parts.answer)

    @property
    def none_letter(self) -> str:
        """The letter for none of the options."""
        return next(letter for letter in _NONE_LETTERS if letter not in self.options)

    @property
    def choices(self) -> tuple[str, ...]:
        """Everything that may be replied; () if that cannot be listed."""
        if self.kind == "yes_no":
            return ("yes", "no", NONE)
        if self.kind not in _LETTERED or self.prompt:
            return ()
        return (*ascii_uppercase[: len(self.options[:MAX_OPTIONS])], self.none_letter)

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
        if has_letters and re.fullmatch(_NO_OPTION.format(self.none_letter), text, re.IGNORECASE):
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
    """Ask a reader about responses, and once more where its reply is unreadable.

    Raises:
        ModelError: If the reader cannot be asked.
    """
    return ask_for_verdicts(looks, ConstrainedReader(model), complaint)


def find_second_look(judgements: Sequence[Judgement]) -> Judgement | None:
    """The judgement of a prediction by a second look, not by rules; None if there was none."""
    looks = (judgement for judgement in judgements if judgement.criterion == ANSWER)
    return next((look for look in looks if look.error or not look.by_rules), None)


def split_judges(joined: str) -> list[str]:
    """Names of judges that signatures and scores join by "+"; [] for "" and "none".

    A setting that is part of a model's name stays there.

    >>> split_judges("reader:gpt+temperature=0.7+rules")
    ['reader:gpt+temperature=0.7', 'rules']
    """
    return [] if joined in ("", "none") else re.split(r"\+(?![a-z_]+=)", joined)


def reader_name(setting: str) -> str:
    """Name, as a judge, of the reader of a setting; the inverse of ``reader_setting``."""
    return f"{READER}:{setting}"


def reader_setting(judge: str) -> str:
    """Setting of the reader with the name of a judge; "" if the judge does not only read.

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
        self._constrains = isinstance(model, ElicitsOptions) and "constrained" in model.elicits

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order; once constraints have failed, none are sent.

        Raises:
            ModelError: If the model cannot be called at all.
        """
        unconstrained = [replace(request, elicit="", options=()) for request in requests]
        if not (self._constrains and any(request.options for request in requests)):
            return self._model.response(unconstrained)
        # A cached response without constraints shows that the model could not be constrained.
        cached_responses = cached(self._model).response(unconstrained)
        triples = zip(requests, unconstrained, cached_responses, strict=True)
        sent = [
            request if request.options and cached_response.error else plain
            for request, plain, cached_response in triples
        ]
        try:
            return self._model.response(sent)
        except ModelError:  # such as a server that ignores the options
            self._constrains = False
            return self._model.response(unconstrained)


@lru_cache(maxsize=_CACHED_READINGS)  # a response is read when it is judged, scored and counted
def _read(kind: FormKind, options: tuple[str, ...], response: str) -> Reading[str] | None:
    if kind == "blanks":
        return read_blanks(response, len(options))
    if kind in _READERS_WITHOUT_OPTIONS:
        return _READERS_WITHOUT_OPTIONS[kind](response)
    return _READERS[kind](response, options)


def _read_reference(response: str, texts: Sequence[str]) -> Reading[str] | None:
    """Read the first reference that the response gives; each alone, as it may give several."""
    readings = (read_one_of("choice", response, [text]) for text in texts)
    return next(filter(None, readings), None)


def _read_number(response: str, words: Sequence[str]) -> Reading[str] | None:
    word = read_one_of("choice", response, words) if words else None
    if word and not word.named:
        return word
    number = read_number(response)
    return number.with_value(format_quantity(number.value)) if number else None


_READERS: Mapping[FormKind, Callable[[str, Sequence[str]], Reading[str] | None]] = {
    "choice": read_choice,
    "choices": read_choices,
    "answers": partial(read_one_of, "choice"),
    "references": _read_reference,
    "number": _read_number,
}
_READERS_WITHOUT_OPTIONS: Mapping[FormKind, Callable[[str], Reading[str] | None]] = {
    "numbers": read_numbers,
    "yes_no": read_yes_no,
}


@cache
def _prompts() -> dict[str, dict[str, str]]:
    return tomllib.loads(PROMPTS_FILE.read_text(encoding="utf-8"))
