import functools
from collections.abc import Callable
from typing import Any

import pytest

from bench_resources.models.registry.functions import code_digest

Function = Callable[..., str]


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*arguments: Any) -> str:
        return function(*arguments)

    return wrapper


def answer_a(images: list[Any], prompt: str) -> str:
    return "A"


def answer_b(images: list[Any], prompt: str) -> str:
    return "B"


def partial_of_wrapped(function: Function) -> Function:
    return functools.partial(wrapped(function))


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(wrapped, id="by a decorator, such as torch.no_grad()"),
        pytest.param(functools.cache, id="by a cache written in C"),
        pytest.param(partial_of_wrapped, id="by a partial of a decorator"),
    ],
)
def test_wrapped_functions_differ_by_the_code_that_they_wrap(wrap):
    assert code_digest(wrap(answer_a)) == code_digest(wrap(answer_a))
    assert code_digest(wrap(answer_a)) != code_digest(wrap(answer_b))


def styled(images: list[Any], prompt: str, style: str = "", weights: object = None) -> str:
    return "A"


def test_a_text_argument_of_a_partial_changes_the_digest() -> None:
    partials = [functools.partial(styled, style=style) for style in ("short", "long")]
    assert len({code_digest(function) for function in [styled, *partials]}) == 3


def test_an_object_argument_of_a_partial_does_not_change_the_digest() -> None:
    first, second = (functools.partial(styled, weights=object()) for _ in range(2))
    assert code_digest(first) == code_digest(second)
