"""Asks judges until their verdicts can be read; a verdict that cannot is never guessed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bench_assets.core.chat import ChatModel, Prompt, Reply, Request
from bench_assets.core.reasoning import without_reasoning
from bench_assets.task import Answered

TRIES = 3
"""How often a judge is asked for one verdict, the first time included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a judge said about one prediction: at first, and at last."""

    answered: Answered
    prompt: Prompt  # what the last reply replies to
    first: Reply
    last: Reply


def ask(
    calls: Sequence[tuple[Answered, Prompt]],
    model: ChatModel,
    is_readable: Callable[[str], bool],
    complaint: str,
) -> list[Said]:
    """Ask for verdicts; for those that cannot be read again, with the complaint, ``TRIES`` times.

    A judge that gave no reply at all is not asked again here: the model has tries of its own.

    Args:
        calls: What is judged, and the prompt that asks for the verdict.
        model: The judge.
        is_readable: Whether a reply is a verdict.
        complaint: What an unreadable reply is answered with; names the form that is asked for.
    """
    said = [
        Said(answered=pair, prompt=prompt, first=reply, last=reply)
        for (pair, prompt), reply in zip(calls, _replies(calls, model), strict=True)
    ]
    for _ in range(TRIES - 1):
        unread = [
            n for n, one in enumerate(said) if not (one.last.error or is_readable(one.last.text))
        ]
        again = [(said[n].answered, _complained(said[n], complaint)) for n in unread]
        for n, (pair, prompt), reply in zip(unread, again, _replies(again, model), strict=True):
            said[n] = Said(answered=pair, prompt=prompt, first=said[n].first, last=reply)
    return said


def _replies(calls: Sequence[tuple[Answered, Prompt]], model: ChatModel) -> list[Reply]:
    requests = [
        Request(prompt=prompt, sample=pair.prediction.sample, question=pair.question)
        for pair, prompt in calls
    ]
    return model.reply(requests) if requests else []


def _complained(said: Said, complaint: str) -> Prompt:
    """The same once more, with the reply that could not be read and what is wrong with it."""
    *before, asked = said.prompt.turns
    reply = without_reasoning(said.last.text).strip()
    more = f'\n\nYou replied:\n"""\n{reply}\n"""\n{complaint}'
    return Prompt((*before, replace(asked, parts=(*asked.parts, more))))
