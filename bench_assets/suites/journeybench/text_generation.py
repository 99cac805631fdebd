"""Asks chat models to write: each request has an id, each response is kept with its prompt."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench_assets.core.schema.chat import ChatModel, Image, Prompt, Request, Response
from bench_assets.core.schema.rows import Rejection


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedText:
    """A model's text for one request."""

    request_id: str
    prompt: str  # what it read, images by digest
    text: str  # without what was thought aloud
    error: str  # why there is no text
    writer: str
    prompt_sha256: str


def write(model: ChatModel, prompts: Mapping[str, Prompt], sample: int = 0) -> list[GeneratedText]:
    """Answer prompts with a model, in order.

    Args:
        model: A model of bench.toml, or the responses that came with the source.
        prompts: By request id; the same id finds a recorded response again.
        sample: Counts the attempts where an earlier response could not be read.

    Raises:
        ModelError: If the model cannot be asked at all.
    """
    requests = [
        Request(prompt=prompt, sample=sample, name=request_id)
        for request_id, prompt in prompts.items()
    ]
    responses = model.response(requests)
    return [
        _written(request_id, prompt, response, model.name)
        for (request_id, prompt), response in zip(prompts.items(), responses, strict=True)
    ]


def json_objects(text: str) -> list[dict[str, Any]] | None:
    r"""Parse the JSON list of objects in a response, with or without a fence; None without one.

    >>> json_objects('Here:\n```json\n[{"a": 1}]\n```')
    [{'a': 1}]
    """
    written = text[max(0, text.find("[")) : text.rfind("]") + 1]
    try:
        values = json.loads(written)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        return None
    return values


def proposals_of(
    response: GeneratedText, rejections: list[Rejection], empty: str = ""
) -> list[dict[str, Any]]:
    """Read the proposals in a response; one without a JSON list of them is a rejection.

    So is an empty list, if ``empty`` says why.
    """
    proposals = None if response.error else json_objects(response.text)
    if proposals is None or (empty and not proposals):
        reason = response.error or ("unreadable response" if proposals is None else empty)
        rejections.append(Rejection(entry=response.request_id, reason=reason))
    return proposals or []


def listed(texts: Iterable[str]) -> str:
    """Write texts as a list in a prompt, one a line."""
    return "\n".join(f"- {text}" for text in texts)


def readable(prompt: Prompt) -> str:
    """Write a prompt as a person reads it, images by the beginning of their digest."""
    return "\n".join(
        f"[image {part.sha256[:12]}]" if isinstance(part, Image) else part
        for turn in prompt.turns
        for part in turn.parts
    )


def text_fields(entry: Mapping[str, Any], names: Sequence[str]) -> dict[str, str] | None:
    """Texts, or integers as texts, of an object that a model wrote.

    None if one of them is missing, blank or something else.

    >>> text_fields({"text": " 3  pies", "number": 3}, ("text", "number"))
    {'text': '3 pies', 'number': '3'}
    """
    found = {name: entry.get(name) for name in names}
    if not all(isinstance(value, str | int) for value in found.values()):
        return None
    texts = {name: " ".join(str(value).split()) for name, value in found.items()}
    return texts if all(texts.values()) else None


def _written(request_id: str, prompt: Prompt, response: Response, writer: str) -> GeneratedText:
    return GeneratedText(
        request_id=request_id,
        prompt=readable(prompt),
        text=response.said.answer.strip(),
        error=response.error,
        writer=writer,
        prompt_sha256=prompt.sha256,
    )
