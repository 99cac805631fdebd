"""The dialogue that brings up what models get wrong about a picture (section 3.3, Figure 2).

A language model that knows only the caption asks, a vision-language model answers, the language
model reasons and asks again, until it decides or the rounds are over. All dialogues go on at once,
so that models can batch; everything that is said is kept.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

from bench_assets.core.chat import ChatModel, Prompt
from bench_assets.suites.journeybench.built import dialogue_prompts as prompts
from bench_assets.suites.journeybench.built.dialogue_prompts import Exchange
from bench_assets.suites.journeybench.built.distractors import Statement
from bench_assets.suites.journeybench.built.transcript import (
    DialogueEnd,
    Outcome,
    Reasoning,
    Speaker,
    Utterance,
    read_questions,
    read_reasoning,
)
from bench_assets.suites.journeybench.writing import Written, write

Read = TypeVar("Read")


class Dialogues(NamedTuple):
    """What was said, how it ended, and the statements that came up."""

    utterances: list[Utterance]
    endings: list[DialogueEnd]
    statements: list[Statement]


@dataclass(slots=True)
class _Dialogue:
    picture: str
    image: str
    caption: str
    exchanges: list[Exchange] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)  # of this round
    analysis: str = ""
    utterances: list[Utterance] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    end: DialogueEnd | None = None

    def ends(self, outcome: Outcome, rounds: int, *, decision: str = "", detail: str = "") -> None:
        self.end = DialogueEnd(
            picture=self.picture,
            caption=self.caption,
            outcome=outcome,
            decision=decision,
            rounds=rounds,
            detail=detail,
        )


def hold_dialogues(
    captions: Mapping[str, str],
    images: Mapping[str, str],
    models: tuple[ChatModel, ChatModel],
    *,
    rounds: int = 4,
    tries: int = 3,
) -> Dialogues:
    """Talk about every picture.

    Args:
        captions: What the asker knows, by picture.
        images: SHA-256 by picture, for the answerer.
        models: The asker, which also reasons, and the answerer, which sees.
        rounds: The longest a dialogue goes on.
        tries: How often a reply that cannot be read is asked for.

    Raises:
        ModelError: If a model cannot be asked at all.
    """
    asker, answerer = models
    dialogues = [_Dialogue(name, images[name], caption) for name, caption in captions.items()]
    for number in range(1, rounds + 1):
        turn = _Turn(asker, "asker", number, tries)
        turn.take(_going(dialogues), _question_prompt, read_questions, _take_questions)
        _answer(_going(dialogues), answerer, number)
        turn = _Turn(asker, "reasoner", number, tries)
        turn.take(
            _going(dialogues),
            partial(_reason_prompt, is_last=number == rounds),
            read_reasoning,
            _take_reasoning,
        )
    for dialogue in _going(dialogues):
        dialogue.ends("round limit", rounds)
    return Dialogues(
        [one for dialogue in dialogues for one in dialogue.utterances],
        [dialogue.end for dialogue in dialogues if dialogue.end],
        [one for dialogue in dialogues for one in dialogue.statements],
    )


class _Turn(NamedTuple):
    """The turn of one speaker in one round, in all dialogues that still go on."""

    model: ChatModel
    speaker: Speaker
    number: int
    tries: int

    def take(
        self,
        dialogues: Sequence[_Dialogue],
        prompt: Callable[[_Dialogue], Prompt],
        read: Callable[[str], Read | None],
        accept: Callable[[_Dialogue, Read, Written, int], None],
    ) -> None:
        """Have the speaker speak until it can be read, or was asked often enough."""
        waiting = list(dialogues)
        for attempt in range(self.tries):
            asked = {
                f"{d.picture}/dialogue/{self.number}/{self.speaker}": prompt(d) for d in waiting
            }
            replies = write(self.model, asked, attempt) if asked else []
            unread = []
            for dialogue, reply in zip(waiting, replies, strict=True):
                _note(dialogue, self.number, self.speaker, reply, reply.prompt, attempt)
                if reply.error:
                    dialogue.ends("no reply", self.number, detail=reply.error)
                elif (found := read(reply.text)) is None:
                    unread.append(dialogue)
                else:
                    accept(dialogue, found, reply, self.number)
            waiting = unread
        for dialogue in waiting:
            detail = f"the {self.speaker} was not readable {self.tries} times"
            dialogue.ends("parse failure", self.number, detail=detail)


def _going(dialogues: Sequence[_Dialogue]) -> list[_Dialogue]:
    return [dialogue for dialogue in dialogues if dialogue.end is None]


def _question_prompt(dialogue: _Dialogue) -> Prompt:
    if not dialogue.exchanges:
        return prompts.first_questions(dialogue.caption)
    return prompts.more_questions(dialogue.caption, dialogue.exchanges, dialogue.analysis)


def _reason_prompt(dialogue: _Dialogue, *, is_last: bool) -> Prompt:
    return prompts.reason(dialogue.caption, dialogue.exchanges, last=is_last)


def _take_questions(dialogue: _Dialogue, questions: list[str], reply: Written, number: int) -> None:
    dialogue.questions = questions


def _answer(dialogues: Sequence[_Dialogue], answerer: ChatModel, number: int) -> None:
    asked = [
        (dialogue, question, f"{dialogue.picture}/dialogue/{number}/answerer/{position}")
        for dialogue in dialogues
        for position, question in enumerate(dialogue.questions, 1)
    ]
    requests = {name: prompts.answer(d.image, question) for d, question, name in asked}
    replies = write(answerer, requests) if requests else []
    for (dialogue, question, _), reply in zip(asked, replies, strict=True):
        _note(dialogue, number, "answerer", reply, question, 0)
        if reply.error:
            dialogue.ends("no reply", number, detail=reply.error)
        # A model that goes on to ask itself is cut short, as IdealGPT does.
        answer = reply.text.split("Question:")[0].strip()
        dialogue.exchanges.append(Exchange(question, answer))


def _take_reasoning(dialogue: _Dialogue, found: Reasoning, reply: Written, number: int) -> None:
    dialogue.analysis = found.analysis
    dialogue.statements.append(
        Statement(
            statement_id=f"{dialogue.picture}/dialogue/{number}",
            picture=dialogue.picture,
            text=found.statement,
            way="dialogue",
            request_id=reply.request_id,
            writer=reply.writer,
            prompt_sha256=reply.prompt_sha256,
        )
    )
    if found.decision:
        dialogue.ends("decision", number, decision=found.decision)


def _note(
    dialogue: _Dialogue, number: int, speaker: Speaker, reply: Written, heard: str, attempt: int
) -> None:
    dialogue.utterances.append(
        Utterance(
            picture=dialogue.picture,
            round=number,
            speaker=speaker,
            said=reply.text or f"(no reply: {reply.error})",
            heard=heard,
            attempt=attempt,
            request_id=reply.request_id,
            model=reply.writer,
            prompt_sha256=reply.prompt_sha256,
        )
    )
