"""Stand-ins for the servers that people run themselves, and for those that others host.

Sources: ``bench_resources.config.sections.known_servers``. The bodies in ``stand_ins.json`` are
not recordings: they have the particular fields and the words by which messages are recognised.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from bench_resources.config.sections.known_servers import ServerName
from bench_resources.http.backoff import UNLIMITED_TRIES
from tests.fakes.chat_server import Answer

TRIES = {1: 1, 2: 2, "again": UNLIMITED_TRIES}  # as files of cases name them
USUAL_FORMATS = frozenset({"jpeg", "png", "gif", "webp"})


def error(status: int, body: object) -> Answer:
    return Answer(status=status, raw=orjson.dumps(body))


def openai_error(status: int, message: str, **more: object) -> Answer:
    return error(status, {"error": {"message": message, **more}})


def completion(**message: object) -> Answer:
    """A response as OpenAI writes it, with fields of its message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return Answer(raw=orjson.dumps({"id": "1", "choices": [choice], "usage": usage}))


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """What one kind of server takes, and what it answers."""

    name: ServerName
    takes: frozenset[str]  # any other field of a request is refused
    formats: frozenset[str] = USUAL_FORMATS
    key: tuple[str, str] = ("Authorization", "Bearer sk-1")
    response: Answer = field(default_factory=lambda: completion(content="B"))
    text: str = "B"
    too_long: Answer | None  # None: it does not look
    no_model: Answer
    bad_key: Answer | None  # None: it asks for none

    def answer(self, body: dict[str, Any], headers: Mapping[str, str]) -> Answer:
        """Refuse what the server refuses, such as the text "long"; respond to all else."""
        if unknown := body.keys() - self.takes:
            return openai_error(400, f"Unrecognized request argument supplied: {sorted(unknown)}")
        if self.bad_key and headers.get(self.key[0]) != self.key[1]:
            return self.bad_key
        if body["model"] != "m":
            return self.no_model
        parts = [part for message in body["messages"] for part in message["content"]]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        formats = {url.split(";")[0].removeprefix("data:image/") for url in urls}
        if not formats <= self.formats:
            return openai_error(400, "invalid image input")
        too_long = any(part.get("text") == "long" for part in parts)
        return self.too_long if self.too_long and too_long else self.response


def _stand_in(row: dict[str, Any]) -> StandIn:
    """The server that a row of ``stand_ins.json`` describes."""
    fields: dict[str, Any] = {"name": row["name"], "text": row.get("text", "B")}
    for refusal in ("too_long", "no_model", "bad_key"):
        fields[refusal] = error(**row[refusal]) if refusal in row else None
    for accepted in ("takes", "formats"):
        if accepted in row:
            fields[accepted] = frozenset(row[accepted])
    if "key" in row:
        fields["key"] = tuple(row["key"])
    return StandIn(response=completion(**row.get("message", {"content": "B"})), **fields)


STAND_INS = [*map(_stand_in, json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")))]
