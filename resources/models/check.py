"""Tries a model before anything depends on it: loads it, asks it six probes, says what it is.

Nothing is remembered, and nothing that is remembered is used.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TypeAlias

from bench_assets.core.chat import Prompt, Reply, Request
from bench_assets.core.rows import Question
from resources.models.loaded_model import Loaded, Loading
from resources.models.probes import NEEDS_NO_PICTURE, REQUIRED, SIZES, DrawnPictures, probes, sized
from resources.replies.engine import Engine
from resources.replies.gate import let_in

_SAME = "the same"

Ask: TypeAlias = Callable[[Sequence[Request]], list[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """One probe and what came back."""

    probe: str
    reply: str = ""
    note: str = ""  # what was changed about it, or that the reply is no answer yet
    error: str = ""
    failed: bool = False  # not only something that the model cannot be asked


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """What was found out about a model."""

    model: str
    kind: str = ""
    place: str = ""  # path, hub id, address, ...
    error: str = ""  # why it could not be tried
    note: str = ""  # what was not tried, and why
    loaded: Loaded | None = None  # where transformers runs it
    image_tokens: Mapping[str, int] | None = None  # by size in px, where the engine can tell
    batch: str = ""  # "the same", or how replies in a batch differ from those alone
    batch_failed: bool = False
    load_seconds: float | None = None
    reply_seconds: float | None = None  # the median of those asked alone
    probes: tuple[Probed, ...] = ()

    @property
    def failures(self) -> list[str]:
        """Why this model should not be evaluated as it is; empty if it may be."""
        said = [self.error] if self.error else []
        said += [f"{one.probe}: {one.error}" for one in self.probes if one.failed]
        return said + ([f"batch: {self.batch}"] if self.batch_failed else [])


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A model that can be asked."""

    ask: Ask
    pictures: DrawnPictures
    loading: Loading | None = None  # where transformers runs it
    batched: bool = True  # several requests may be one batch
    exactly: bool = True  # sums are rounded alike in every batch
    blind: bool = False


def asking(engine: Engine) -> Ask:
    """Ask an engine, with replies in the order of the requests."""

    def ask(requests: Sequence[Request]) -> list[Reply]:
        arrived = dict(let_in(engine.stream(requests), len(requests)))
        return [arrived[position] for position in range(len(requests))]

    return ask


def try_out(found: ModelCheck, subject: Subject) -> ModelCheck:
    """Ask a model everything; what cannot be asked is part of what is found.

    Raises:
        ModelError: If it does not load, or cannot be asked at all.
    """
    alone, seconds = _asked_alone(subject)
    return _in_batch(replace(found, probes=alone, reply_seconds=median(seconds)), subject)


def _asked_alone(subject: Subject) -> tuple[tuple[Probed, ...], list[float]]:
    """Ask the probes one by one; the first one loads the model."""
    loading = subject.loading
    answered: list[Probed] = []
    seconds: list[float] = []
    prompts = probes(subject.pictures, ())
    for name in prompts:
        if loading and answered:
            prompts = probes(subject.pictures, loading.control_tokens)
        start = time.perf_counter()
        reply = subject.ask([_request(name, prompts[name], subject)])[0]
        seconds.append(time.perf_counter() - start)
        if loading and not answered:
            seconds[0] -= loading.seconds
        refused = loading is None or loading.refused
        answered.append(_probed(name, reply, refused=refused))
    return tuple(answered), seconds


def _probed(name: str, reply: Reply, *, refused: bool) -> Probed:
    return Probed(
        probe=name,
        reply=reply.text,
        note=reply.note or reply.no_answer,
        error=reply.error,
        failed=bool(reply.error)
        and (name in REQUIRED or not (refused or name == NEEDS_NO_PICTURE)),
    )


def _in_batch(found: ModelCheck, subject: Subject) -> ModelCheck:
    """Ask three questions about pictures of three sizes together, and each alone."""
    if not subject.batched:
        return replace(found, batch="not tried: a server does not say what it computes together")
    requests = [_request("a batch", prompt, subject) for prompt in sized(subject.pictures)]
    together = subject.ask(requests)
    alone = [subject.ask([request])[0] for request in requests]
    if errors := [reply.error for reply in (*alone, *together) if reply.error]:
        return replace(found, batch=errors[0], batch_failed=True)
    batch = compared(alone, together, exactly=subject.exactly)
    tokens = {
        f"{width}x{height}": reply.image_tokens[0]
        for (width, height), reply in zip(SIZES, alone, strict=True)
        if reply.image_tokens
    }
    failed = not batch.startswith(_SAME)
    return replace(found, batch=batch, batch_failed=failed, image_tokens=tokens or None)


def compared(alone: Sequence[Reply], together: Sequence[Reply], *, exactly: bool) -> str:
    """Say whether replies in a batch are those alone.

    In half precision and on GPUs sums are rounded in another way in another batch, and a near-tie
    may fall the other way: there only the first word of a reply has to be the same.

    >>> yes, also = Reply(text="2 cats."), Reply(text="2 of them")
    >>> compared([yes], [also], exactly=False)
    'the same, but for rounding in 1 of 1 replies'
    >>> compared([yes], [also], exactly=True)
    "1 of 1 replies differ, such as '2 of them' in a batch and '2 cats.' alone"
    """
    pairs = [(a.text, b.text) for a, b in zip(alone, together, strict=True) if a.text != b.text]
    apart = pairs if exactly else [(a, b) for a, b in pairs if a.split()[:1] != b.split()[:1]]
    if apart:
        one, other = (text[:60] for text in apart[0])
        return (
            f"{len(apart)} of {len(alone)} replies differ, such as {other!r} in a batch and "
            f"{one!r} alone"
        )
    rounded = f", but for rounding in {len(pairs)} of {len(alone)} replies" if pairs else ""
    return _SAME + rounded


def _request(name: str, prompt: Prompt, subject: Subject) -> Request:
    prompt = prompt.without_images() if subject.blind else prompt
    texts = [part for part in prompt.turns[-1].parts if isinstance(part, str)]
    question = Question(  # for models written in Python, which may look at it
        question_id=f"check/{name}",
        task="check",
        edition="mini",
        kind="text",
        text=" ".join(texts),
        answer=(),
        images=tuple(image.sha256 for image in prompt.images),
    )
    return Request(prompt=prompt, question=question)
