"""Every family of the table asked every question by the local engine, as a user would have it.

The short matrix is two families; `make families` asks all of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.transformers.model import TransformersModel, load
from tests.families.card import MAX_TOKENS, Card, without_marks
from tests.families.questions import (
    CONTROL_TOKENS,
    IMAGES,
    QUESTIONS,
    SINGLE,
    FamilyQuestion,
    prompt_about,
)
from tests.families.table import FAMILIES, Family

_DISTINCT = 5  # of the ten responses to questions that differ in nothing but the image


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """A checkpoint that the engine has loaded, ready to be asked."""

    folder: Path
    model: TransformersModel
    spec: TransformersSpec

    def responses(self, prompts: Mapping[str, Prompt], batch_size: int) -> dict[str, Response]:
        spec = self.spec.model_copy(update={"batch_size": batch_size})
        engine = TransformersEngine(
            spec, str(self.folder), IMAGES.__getitem__, load=lambda *_: self.model
        )
        answered = dict(engine.stream([Request(prompt=prompt) for prompt in prompts.values()]))
        return {name: answered[at] for at, name in enumerate(prompts)}


def _cases() -> list[Any]:
    return [
        pytest.param(
            family,
            id=family.name,
            marks=[pytest.mark.families] * (not family.short)
            + [pytest.mark.vision] * (family.needs == "vision"),
        )
        for family in FAMILIES
    ]


@pytest.mark.parametrize("family", _cases())
def test_prompts_of_a_family_are_as_its_card_says(
    family: Family, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    if family.needs == "vision" and not find_spec("torchvision"):
        pytest.skip("needs pip install 'bench-assets[vision]'")
    loaded = _loaded(family, tmp_path)
    prompts = {name: question.prompt for name, question in QUESTIONS.items()}
    alone = loaded.responses(prompts, batch_size=1)
    refused = {name for name, question in QUESTIONS.items() if not _can(family, question)}

    with subtests.test("what it can be asked is answered, and nothing else"):
        assert {
            name: response.error for name, response in alone.items() if response.error
        }.keys() == refused
    with subtests.test("responses depend on the image"):
        assert len({alone[name].text for name in SINGLE}) >= _DISTINCT
    if "two images" not in refused:
        with subtests.test("two images have an order"):
            assert alone["two images"].text != alone["two images, swapped"].text
    with subtests.test("a response in a batch is the response alone"):
        assert _outputs(loaded.responses(prompts, batch_size=8)) == _outputs(alone)
    with subtests.test("the engine asks as the card does"):
        plain = family.template == "plain"
        by_template = SINGLE if plain else QUESTIONS  # what a card without a template shows
        by_card = {name for name, question in by_template.items() if question.by_card} - refused
        card = Card(loaded.folder, loaded.model.processor, plain)
        expected = {name: card.ask(prompts[name]) for name in by_card}
        outputs = {
            name: (without_marks(alone[name].text), alone[name].prompt_tokens) for name in by_card
        }
        assert outputs == expected
    with subtests.test("control tokens in a question are text"):
        _control_tokens_are_text(loaded)


def _loaded(family: Family, tmp_path: Path) -> _Loaded:
    folder = tmp_path / family.name
    family.build(folder)
    spec = TransformersSpec(
        kind="transformers",
        path=str(folder),
        device="cpu",
        max_tokens=MAX_TOKENS,
        chat_template="plain" if family.template == "plain" else "",
    )
    engine = TransformersEngine(spec, str(folder), IMAGES.__getitem__)
    return _Loaded(folder=folder, model=load(spec, engine.checkpoint), spec=spec)


def _can(family: Family, question: FamilyQuestion) -> bool:
    return question.needs.isdisjoint(family.cannot)


def _outputs(responses: Mapping[str, Response]) -> dict[str, tuple[str, int | None, str]]:
    return {name: (r.text, r.prompt_tokens, r.error) for name, r in responses.items()}


def _control_tokens_are_text(loaded: _Loaded) -> None:
    """A word more or less costs its own tokens, even where it looks like a control token."""
    tokenizer = loaded.model.processor.tokenizer
    words = ["bird", *CONTROL_TOKENS, *tokenizer.all_special_tokens]

    def length(word: str) -> int:
        return len(
            tokenizer.encode(f" {word}", add_special_tokens=False, split_special_tokens=True)
        )

    responses = loaded.responses({word: prompt_about(word) for word in words}, batch_size=8)
    assert {word: response.error for word, response in responses.items() if response.error} == {}
    rest = (responses["bird"].prompt_tokens or 0) - length("bird")
    measured = {word: (response.prompt_tokens or 0) - rest for word, response in responses.items()}
    assert measured == {word: length(word) for word in words}
