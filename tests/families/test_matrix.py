"""Checkpoints with the files of real releases, asked everything as a user would have it asked.

The short matrix is two families; `make families` asks all of them.
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
    compare,
    is_plain,
    open_engine,
    read_table,
    responses,
    spec_of,
    support_of,
)

_SHORT = ("llava", "smolvlm")  # asked in `make check` as well


def _needs_vision(model_type: str) -> bool:
    return read_table()[model_type].support == VISION


def _cases() -> list[Any]:
    return [
        pytest.param(
            name,
            marks=[pytest.mark.families] * (name not in _SHORT)
            + [pytest.mark.vision] * _needs_vision(name),
        )
        for name in releases.HANDMADE
    ]


def _skip_without_vision(model_type: str) -> None:
    if _needs_vision(model_type) and not find_spec("torchvision"):
        pytest.skip("needs pip install 'bench-assets[vision]'")


@pytest.mark.parametrize("model_type", _cases())
def test_a_family_does_as_the_table_says(model_type: str) -> None:
    _skip_without_vision(model_type)
    assert support_of(model_type) == read_table()[model_type]


@pytest.mark.families
@pytest.mark.parametrize(
    "release", ["llava_without_bos", pytest.param("pixtral", marks=pytest.mark.vision)]
)
def test_another_release_of_an_architecture_is_asked_as_its_card_does(
    release: str, tmp_path: Path
) -> None:
    if release == "pixtral" and not find_spec("torchvision"):
        pytest.skip("needs pip install 'bench-assets[vision]'")
    releases.build(release, tmp_path / "model")
    found = compare("llava", tmp_path / "model")
    assert found is not None
    assert found.support in (RUNS, VISION, ALONE)


@pytest.mark.parametrize("model_type", _cases())
def test_control_tokens_in_a_question_are_text(model_type: str, tmp_path: Path) -> None:
    """A word more or less costs its own tokens, even where it looks like a control token."""
    _skip_without_vision(model_type)
    folder = tmp_path / model_type
    releases.build(model_type, folder)
    plain = is_plain(model_type)
    engine = open_engine(folder, plain)
    tokenizer = load(spec_of(folder, plain), engine.checkpoint).processor.tokenizer
    words = ["bird", *CONTROL_TOKENS, *tokenizer.all_special_tokens]

    def length(word: str) -> int:
        return len(
            tokenizer.encode(f" {word}", add_special_tokens=False, split_special_tokens=True)
        )

    answered = responses(engine, {word: prompt_about(word) for word in words})
    assert {word: response.error for word, response in answered.items() if response.error} == {}
    rest = (answered["bird"].prompt_tokens or 0) - length("bird")
    measured = {word: (response.prompt_tokens or 0) - rest for word, response in answered.items()}
    assert measured == {word: length(word) for word in words}
