from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import orjson

from tests.faults.servers.server import Exchange, Misbehave, response

Expectation: TypeAlias = Literal["lost", "kept", "either", "own", "silent", "stops"]
EXPECTATIONS: dict[Expectation, str] = {
    "lost": "an error of that request alone, not stored, asked again",
    "kept": "a response like any other",
    "either": "the right response, or an error that is asked again; nothing else",
    "own": "the model's own failure: stored, never right, not asked again",
    "silent": "an error that is asked again, or the model's own failure: never right",
    "stops": "stored, not asked again, and no number unless that is accepted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Misbehaviour:
    """What a server does to half of its requests."""

    name: str
    cause: str
    expected: Expectation
    misbehave: Misbehave
    short: bool = True
    max_memory: int = 300  # MB that the client may take more than before
    timeout: float = 5.0  # s; of the client


def bodies(
    expected: Expectation, *rows: tuple[str, Callable[[Exchange], object]], **fields: Any
) -> list[Any]:
    """Misbehaviours that are another body with status 200."""
    return [
        Misbehaviour(
            name=name,
            cause="the body of HTTP 200",
            expected=expected,
            misbehave=_answer_with(body),
            **fields,
        )
        for name, body in rows
    ]


def choice(**changes: Any) -> Callable[[Exchange], dict[str, Any]]:
    """The response that gives the wrong points, with other fields in its choice."""
    return lambda exchange: response(..., choices=[_choice(exchange.wrong) | changes])


def right_choice(**changes: Any) -> Callable[[Exchange], dict[str, Any]]:
    """The right response, with other fields in its choice."""
    return lambda exchange: response(..., choices=[_choice(exchange.right) | changes])


def message(**changes: Any) -> Callable[[Exchange], object]:
    """A choice with this message alone."""
    return lambda exchange: response(
        ..., choices=[{"index": 0, "message": changes, "finish_reason": "stop"}]
    )


def _choice(text: str) -> dict[str, Any]:
    first_choice: dict[str, Any] = response(text)["choices"][0]
    return first_choice


def _answer_with(body: Callable[[Exchange], object]) -> Misbehave:
    async def misbehave(exchange: Exchange) -> None:
        data = body(exchange)
        await exchange.say(data if isinstance(data, bytes) else orjson.dumps(data))

    return misbehave
