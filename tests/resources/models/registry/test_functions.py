"""Which functions are the same model, as the response cache sees them."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

from bench_resources.models.registry.functions import code_digest

Function = Callable[..., str]


def logged(function: Function) -> Function:
    @functools.wraps(function)
    def wrapper(*arguments: Any) -> str:
        return function(*arguments)

    return wrapper


def saying(text: str) -> Function:
    made: dict[str, Function] = {"A": lambda images, prompt: "A", "B": lambda images, prompt: "B"}
    return made[text]


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(logged, id="by a decorator, such as torch.no_grad()"),
        pytest.param(functools.cache, id="by a cache written in C"),
        pytest.param(lambda one: functools.partial(logged(one)), id="by a partial of a decorator"),
    ],
)
def test_wrapped_functions_of_other_code_are_other_models(wrap: Callable[[Function], Function]):
    a, again, b = (code_digest(wrap(saying(text))) for text in "AAB")
    assert a == again != b


def test_an_argument_of_a_partial_is_part_of_the_code():
    def model(images: list[Any], prompt: str, style: str = "", weights: object = None) -> str:
        return "A"

    given_arguments: list[dict[str, Any]] = [{}, {"style": "short"}, {"style": "long"}]
    digests = {code_digest(functools.partial(model, **given)) for given in given_arguments}
    assert len(digests) == 3
    first, again = (code_digest(functools.partial(model, weights=object())) for _ in range(2))
    assert first == again
