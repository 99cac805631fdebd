"""Checkpoints with the files of real releases answer every question of ``questions``.

The short matrix is two families; `make families` tries all of them.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bench_resources.models.transformers.model import load
from tests.families import releases
from tests.families.questions import CONTROL_TOKENS, prompt_about
from tests.families.support import (
    ALONE,
    RUNS,
    VISION,
    ask,
    check_responses,
    is_plain,
    open_engine,
    read_table,
    spec_of,
    support_of,
)

_SHORT = ("llava", "smolvlm")  # tried in `make check` as well
_NEEDS_TORCHVISION = (
    pytest.mark.vision,
    pytest.mark.skipif(
        not find_spec("torchvision"), reason="needs pip install 'bench-assets[vision]'"
    ),
)


def _families() -> list[Any]:
    """A parameter for each handmade family, with the marks of those that are slow or need more."""
    table = read_table()
    parameters = []
    for name in releases.HANDMADE:
        marks = [] if name in _SHORT else [pytest.mark.families]
        if table[name].support == VISION:
            marks += _NEEDS_TORCHVISION
        parameters.append(pytest.param(name, marks=marks))
    return parameters


@pytest.mark.parametrize("model_type", _families())
def test_the_table_states_the_support_of_a_family(model_type: str) -> None:
    assert support_of(model_type) == read_table()[model_type]


@pytest.mark.families
@pytest.mark.parametrize(
    "release", ["llava_without_bos", pytest.param("pixtral", marks=_NEEDS_TORCHVISION)]
)
def test_another_release_of_llava_responds_as_with_its_card(release: str, tmp_path: Path) -> None:
    releases.build(release, tmp_path / "model")

    support = check_responses("llava", tmp_path / "model")

    assert support is not None
    assert support.support in (RUNS, VISION, ALONE)


@pytest.mark.parametrize("model_type", _families())
def test_a_control_token_in_a_question_is_tokenized_as_text(
    model_type: str, tmp_path: Path
) -> None:
    folder = tmp_path / model_type
    releases.build(model_type, folder)
    plain = is_plain(model_type)
    engine = open_engine(folder, plain=plain)
    tokenizer = load(spec_of(folder, plain=plain), engine.checkpoint).processor.tokenizer
    words = ["bird", *CONTROL_TOKENS, *tokenizer.all_special_tokens]

    responses = ask(engine, {word: prompt_about(word) for word in words})

    assert {word: response.error for word, response in responses.items() if response.error} == {}
    # All prompts differ in one word, so the rest of each has the same number of tokens.
    n_tokens = {word: response.prompt_tokens or 0 for word, response in responses.items()}
    n_rest = n_tokens["bird"] - _count_as_text(tokenizer, "bird")
    expected = {word: n_rest + _count_as_text(tokenizer, word) for word in words}
    assert n_tokens == expected


def _count_as_text(tokenizer: Any, word: str) -> int:
    """The number of tokens of a word within a sentence, if none of it is a control token."""
    text = f" {word}"
    return len(tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))
