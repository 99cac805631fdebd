"""Dialogue that finds the errors of models about an image (section 3.3, Figure 2).

A language model that knows only the caption asks, a vision-language model answers, the language
model reasons and asks again, until it decides or the rounds are used up. All dialogues run
together, so that models can batch; every turn is recorded.

The order of turns, the content shown in each, and the marks that are parsed are those of IdealGPT
(You et al., 2023), on which the paper builds. The line "Statement:", which may become a distractor,
and the wording of the prompts are ours.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from bench_assets.core.schema.chat import ChatModel, Image, Prompt
from bench_assets.suites.journeybench.construction.distractors import Statement
from bench_assets.suites.journeybench.text_generation import GeneratedText, generate_texts

OPTIONS = ("entailment", "neutral", "contradiction")

_ASKER_SYSTEM = (
    "You cannot see a picture, but you can have questions about it answered by someone who can. "
    "You want to find out whether a hypothesis about the picture holds. Ask short questions, each "
    'of which can be understood without the others, begins with "What" and asks for one thing. '
    'Print each on a line of its own, after "Sub-question 1:", "Sub-question 2:" and so on.'
)
_FOLLOW_UP_SYSTEM = (
    f"{_ASKER_SYSTEM} Some questions were answered already, and an analysis says what is still "
    'open. Ask only for what is still open, after "Additional Sub-question 1:" and so on.'
)
_REASONER_SYSTEM = (
    "You cannot see a picture. From a caption that may be wrong, and from questions about the "
    "picture with answers that may be wrong, decide whether the picture supports a hypothesis. "
    'Print three lines and nothing else. "Analysis:" and what speaks for and against it. '
    '"Statement:" and one sentence that describes the picture as the answers do, in the style of '
    'the hypothesis. "More Likely Answer:" and one of: entailment, neutral, contradiction'
)
_UNSURE_OPTION = ', or "We are not sure which option is correct" if the answers do not suffice.'
_FORCED_DECISION = ". Decide for one of them, even if you are not sure."


class Exchange(NamedTuple):
    """A question about the image, and the answerer's answer."""

    question: str
    answer: str


def first_questions_prompt(caption: str) -> Prompt:
    """Prompt for the first questions about an image, from its caption alone."""
    return Prompt.of(_caption_block(caption), system=_ASKER_SYSTEM)


def more_questions_prompt(caption: str, exchanges: Sequence[Exchange], analysis: str) -> Prompt:
    """Prompt for further questions, after an analysis that could not decide."""
    context = f"{_caption_block(caption)}\n{_format_exchanges(exchanges)}\nAnalysis: {analysis}"
    return Prompt.of(context, system=_FOLLOW_UP_SYSTEM)


def answer_prompt(image: str, question: str) -> Prompt:
    """Prompt for an answer to one question about the image."""
    return Prompt.of(Image(image), f"Question: {question} Answer it in one short sentence.")


def reasoning_prompt(caption: str, exchanges: Sequence[Exchange], *, last: bool) -> Prompt:
    """Prompt for a decision; in the last round "not sure" is not offered."""
    context = f"{_caption_block(caption)}\n{_format_exchanges(exchanges)}"
    ending = _FORCED_DECISION if last else _UNSURE_OPTION
    return Prompt.of(context, system=f"{_REASONER_SYSTEM}{ending}")


def _caption_block(caption: str) -> str:
    return f"Imperfect Caption: {caption}\nHypothesis: {caption}\nOptions: {', '.join(OPTIONS)}"


def _format_exchanges(exchanges: Sequence[Exchange]) -> str:
    return "\n".join(f"Sub-question: {e.question} Answer: {e.answer}" for e in exchanges)


Speaker: TypeAlias = Literal["asker", "answerer", "reasoner"]
Outcome: TypeAlias = Literal["decision", "round limit", "parse failure", "no response"]

_SUB_QUESTION = re.compile(r"Sub-question.{0,3}:[ \t]*(\S.*)", re.IGNORECASE)
_LINE = r"{}:[ \t]*(\S.*)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """One utterance of a dialogue; rows are in order."""

    image: str
    round: int
    speaker: Speaker
    said: str
    heard: str  # the question that was answered, or the prompt of the speaker
    attempt: int  # number of earlier unreadable responses
    request_id: str
    model: str
    prompt_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DialogueEnd:
    """End of a dialogue."""

    image: str
    caption: str  # known to asker and reasoner, who discuss whether it holds
    outcome: Outcome
    decision: str  # "entailment", "neutral" or "contradiction"; "" without a decision
    rounds: int
    detail: str  # why there was no response, or whose response was unreadable


class ReasonerTurn(NamedTuple):
    """The parsed lines of a reasoner's response."""

    analysis: str
    statement: str
    decision: str  # "" if it is not sure


def read_questions(response: str) -> list[str] | None:
    r"""Read the questions that an asker wrote, each after "Sub-question 1:"; None without any.

    >>> read_questions("Sub-question 1: What is red?\nAdditional Sub-question 2: What else?")
    ['What is red?', 'What else?']
    """
    return [match.strip() for match in _SUB_QUESTION.findall(response)] or None


def read_reasoning(response: str) -> ReasonerTurn | None:
    """Read a reasoner's three lines; None if one is missing, or the answer is not an option."""
    matches = [
        re.findall(_LINE.format(name), response, re.IGNORECASE)
        for name in ("Analysis", "Statement", "More Likely Answer")
    ]
    if not all(matches):
        return None
    analysis, statement, answer = (lines[-1].strip() for lines in matches)
    if "not sure" in answer.casefold():
        return ReasonerTurn(analysis=analysis, statement=statement, decision="")
    decision = re.sub(r"[^\w\s]", "", answer).strip().casefold()
    if decision not in OPTIONS:
        return None
    return ReasonerTurn(analysis=analysis, statement=statement, decision=decision)


Parsed = TypeVar("Parsed")


class Dialogues(NamedTuple):
    """Utterances and endings of dialogues."""

    utterances: list[Utterance]
    endings: list[DialogueEnd]


@dataclass(slots=True)
class _Dialogue:
    """A dialogue that may go on."""

    image_id: str  # name of the image
    image: str  # its SHA-256
    caption: str
    exchanges: list[Exchange] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)  # of this round
    analysis: str = ""
    utterances: list[Utterance] = field(default_factory=list)
    end: DialogueEnd | None = None

    def close(self, outcome: Outcome, rounds: int, *, decision: str = "", detail: str = "") -> None:
        """End the dialogue after some rounds."""
        self.end = DialogueEnd(
            image=self.image_id,
            caption=self.caption,
            outcome=outcome,
            decision=decision,
            rounds=rounds,
            detail=detail,
        )


def hold_dialogues(
    captions: Mapping[str, str],
    images: Mapping[str, str],
    asker: ChatModel,
    answerer: ChatModel,
    *,
    rounds: int = 4,
    tries: int = 3,
) -> Dialogues:
    """Hold a dialogue about every image.

    Args:
        captions: Caption by image, all that the asker knows.
        images: SHA-256 by image, for the answerer.
        asker: Asks, and reasons.
        answerer: Sees the image.
        rounds: Maximum number of rounds of a dialogue.
        tries: Attempts of asker and reasoner at a readable response.

    Raises:
        ModelError: If a model cannot be called at all.
    """
    dialogues = [
        _Dialogue(image_id=name, image=images[name], caption=caption)
        for name, caption in captions.items()
    ]
    for round_number in range(1, rounds + 1):
        turn = _Turn(model=asker, speaker="asker", round_number=round_number, tries=tries)
        turn.take(_open_dialogues(dialogues), _question_prompt, read_questions, _accept_questions)
        _answer_questions(_open_dialogues(dialogues), answerer, round_number)
        turn._replace(speaker="reasoner").take(
            _open_dialogues(dialogues),
            partial(_reasoning_prompt, is_last=round_number == rounds),
            read_reasoning,
            partial(_accept_reasoning, round_number=round_number),
        )
    for dialogue in _open_dialogues(dialogues):
        dialogue.close("round limit", rounds)
    return Dialogues(
        [utterance for dialogue in dialogues for utterance in dialogue.utterances],
        [dialogue.end for dialogue in dialogues if dialogue.end],
    )


def dialogue_statements(utterances: Iterable[Utterance]) -> list[Statement]:
    """List the descriptions of images in the reasoner's readable responses."""
    turns = [(row, read_reasoning(row.said)) for row in utterances if row.speaker == "reasoner"]
    return [
        Statement(
            statement_id=f"{utterance.image}/dialogue/{utterance.round}",
            image=utterance.image,
            text=turn.statement,
            way="dialogue",
            request_id=utterance.request_id,
            writer=utterance.model,
            prompt_sha256=utterance.prompt_sha256,
        )
        for utterance, turn in turns
        if turn is not None
    ]


class _Turn(NamedTuple):
    """The turn of one speaker in one round, in all dialogues that still go on."""

    model: ChatModel
    speaker: Speaker
    round_number: int
    tries: int

    def take(
        self,
        dialogues: Sequence[_Dialogue],
        build_prompt: Callable[[_Dialogue], Prompt],
        parse: Callable[[str], Parsed | None],
        accept: Callable[[_Dialogue, Parsed], None],
    ) -> None:
        """Request each dialogue's turn until it is readable, or the attempts are used up.

        A dialogue without a response, or without a readable one, ends.
        """
        waiting = list(dialogues)
        for attempt in range(self.tries):
            prompts = {self._request_id(dialogue): build_prompt(dialogue) for dialogue in waiting}
            responses = generate_texts(self.model, prompts, attempt) if prompts else []
            unreadable = []
            for dialogue, response in zip(waiting, responses, strict=True):
                _record_utterance(
                    dialogue, self.round_number, self.speaker, response, response.prompt, attempt
                )
                parsed = parse(response.text)
                if response.error:
                    dialogue.close("no response", self.round_number, detail=response.error)
                elif parsed is None:
                    unreadable.append(dialogue)
                else:
                    accept(dialogue, parsed)
            waiting = unreadable
        for dialogue in waiting:
            detail = f"the {self.speaker}'s response was unreadable {self.tries} times"
            dialogue.close("parse failure", self.round_number, detail=detail)

    def _request_id(self, dialogue: _Dialogue) -> str:
        return f"{dialogue.image_id}/dialogue/{self.round_number}/{self.speaker}"


def _open_dialogues(dialogues: Sequence[_Dialogue]) -> list[_Dialogue]:
    return [dialogue for dialogue in dialogues if dialogue.end is None]


def _question_prompt(dialogue: _Dialogue) -> Prompt:
    if not dialogue.exchanges:
        return first_questions_prompt(dialogue.caption)
    return more_questions_prompt(dialogue.caption, dialogue.exchanges, dialogue.analysis)


def _reasoning_prompt(dialogue: _Dialogue, *, is_last: bool) -> Prompt:
    return reasoning_prompt(dialogue.caption, dialogue.exchanges, last=is_last)


def _accept_questions(dialogue: _Dialogue, questions: list[str]) -> None:
    dialogue.questions = questions


def _answer_questions(
    dialogues: Sequence[_Dialogue], answerer: ChatModel, round_number: int
) -> None:
    """Have the questions of this round answered; a failed answer ends its dialogue."""
    prompts = {
        f"{dialogue.image_id}/dialogue/{round_number}/answerer/{number}": answer_prompt(
            dialogue.image, question
        )
        for dialogue in dialogues
        for number, question in enumerate(dialogue.questions, 1)
    }
    responses = generate_texts(answerer, prompts) if prompts else []
    questions = [(dialogue, question) for dialogue in dialogues for question in dialogue.questions]
    for (dialogue, question), response in zip(questions, responses, strict=True):
        _record_utterance(dialogue, round_number, "answerer", response, question, attempt=0)
        if response.error:
            dialogue.close("no response", round_number, detail=response.error)
        # Cut off further questions that the model asks itself, as IdealGPT does.
        answer = response.text.split("Question:")[0].strip()
        dialogue.exchanges.append(Exchange(question, answer))


def _accept_reasoning(dialogue: _Dialogue, turn: ReasonerTurn, round_number: int) -> None:
    dialogue.analysis = turn.analysis
    if turn.decision:
        dialogue.close("decision", round_number, decision=turn.decision)


def _record_utterance(
    dialogue: _Dialogue,
    round_number: int,
    speaker: Speaker,
    response: GeneratedText,
    heard: str,
    attempt: int,
) -> None:
    dialogue.utterances.append(
        Utterance(
            image=dialogue.image_id,
            round=round_number,
            speaker=speaker,
            said=response.text or f"(no response: {response.error})",
            heard=heard,
            attempt=attempt,
            request_id=response.request_id,
            model=response.writer,
            prompt_sha256=response.prompt_sha256,
        )
    )
