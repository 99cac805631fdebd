"""Asks a judge about more replies than can be held; the verdicts are those of ``asking``."""

from collections.abc import Iterator, Sequence

from bench_assets.core.asking import Asked, Heard, ask_again, is_unread, judged
from bench_assets.core.asking_many import Made, answered
from bench_assets.core.chat import ChatModel
from bench_assets.core.large_tables import gathered
from bench_assets.core.rows import Judgement


def verdicts_of_many(
    asked: Sequence[Asked], model: ChatModel, complaint: str
) -> Iterator[list[Judgement]]:
    """Ask for one verdict each, as ``ask_for_verdicts`` does; held is what is asked again.

    Raises:
        ModelError: If the judge cannot be asked at all.
    """
    waiting: dict[int, tuple[Asked, Heard]] = {}
    rows = gathered(_at_first(asked, model, waiting), Judgement)
    calls = [one.call for one, _ in waiting.values()]
    again = ask_again(calls, [heard for _, heard in waiting.values()], model, complaint)
    heard = dict(zip(waiting, again, strict=True))
    for n, row in enumerate(rows):
        yield _judged(waiting[n][0], heard[n], model) if n in heard else [row]


def _at_first(
    asked: Sequence[Asked], model: ChatModel, waiting: dict[int, tuple[Asked, Heard]]
) -> Iterator[Judgement]:
    """Judge by what comes at first; ``waiting`` gets, by place, what cannot be read."""
    said = answered(model, Made(asked, lambda one: one.call.request))
    for n, (one, (request, reply)) in enumerate(zip(asked, said, strict=True)):
        heard = Heard(request, reply, (request, reply))
        if is_unread(one.call, reply):
            waiting[n] = one, heard
        yield from _judged(one, heard, model)


def _judged(one: Asked, heard: Heard, model: ChatModel) -> list[Judgement]:
    verdict = one.read(heard.reply)
    named = {"judge": model.name, "criterion": one.criterion}
    return judged(one.prediction, heard, verdict=verdict, **named)
