"""Trials: what reads its neighbours is asked alone, what takes no image is refused."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.models.transformers.batch_trial import ALONE, TOGETHER, BatchTrials, trial
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.transformers.model import TransformersModel, load
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.families import generic
from tests.families.card import Card
from tests.families.questions import IMAGES, SINGLE
from tests.resources.models.transformers.tiny_engine import identity_of, spec_of

_PROMPTS = [SINGLE[name].prompt for name in ("an image", "another image", "64 x 64", "800 x 50")]


@pytest.fixture(scope="module")
def emu3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("emu3")
    generic.build("emu3", folder)
    return folder


def engine_of(folder: Path, home: Path, load: Any = load) -> TransformersEngine:
    trials = BatchTrials(home / "processors.json")
    return TransformersEngine(
        spec_of(folder, max_tokens=6), str(folder), IMAGES.__getitem__, load, trials=trials
    )


def responses_to_prompts(engine: Any) -> list[Response]:
    answered = dict(engine.stream([Request(prompt=prompt) for prompt in _PROMPTS]))
    return [replace(answered[at], seconds=None) for at in sorted(answered)]


def test_emu3_gives_the_card_s_response_and_its_identity_says_how(
    emu3: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "bench_assets.local"):
        engine = engine_of(emu3, tmp_path)
        assert identity_of(engine).endswith(",alone")
    assert "sent one at a time: in a batch its scores change" in caplog.text
    processor = load(spec_of(emu3), engine.checkpoint).processor
    card = Card(emu3, processor, plain=False)
    first = 6  # of the card's twelve tokens
    for prompt, response in zip(_PROMPTS, responses_to_prompts(engine), strict=True):
        text, n_prompt = card.ask(prompt)
        assert response.prompt_tokens == n_prompt
        assert response.completion_tokens == first
        assert text.startswith(response.text.rstrip("\ufffd"))


def test_a_context_that_is_full_of_the_trial_refuses_no_shorter_question(tmp_path: Path) -> None:
    folder = save_tiny_vlm(tmp_path / "short")
    config = folder / "config.json"
    written = config.read_text()
    config.write_text(
        written.replace('"max_position_embeddings": 1024', '"max_position_embeddings": 8')
    )
    engine = engine_of(folder, tmp_path)
    assert identity_of(engine).endswith(",alone")


def test_a_trial_loads_once_and_is_remembered(emu3: Path, tmp_path: Path) -> None:
    loads: list[Path] = []

    def counted(spec: TransformersSpec, checkpoint: Any) -> TransformersModel:
        loads.append(emu3)
        return load(spec, checkpoint)

    first = engine_of(emu3, tmp_path, counted)
    assert responses_to_prompts(first)
    assert len(loads) == 1
    again = engine_of(emu3, tmp_path, counted)
    assert identity_of(again) == identity_of(first)
    assert len(loads) == 1


def test_without_requests_nothing_is_loaded(emu3: Path, tmp_path: Path) -> None:
    trials = BatchTrials(tmp_path / "processors.json", tries=False)
    spec = spec_of(emu3, max_tokens=6)

    def unasked(*_: object) -> TransformersModel:
        raise AssertionError("loaded")

    untried = TransformersEngine(spec, str(emu3), IMAGES.__getitem__, unasked, trials=trials)
    assert "alone" not in identity_of(untried)
    tried = identity_of(engine_of(emu3, tmp_path))
    known = TransformersEngine(spec, str(emu3), IMAGES.__getitem__, unasked, trials=trials)
    assert identity_of(known) == tried


class Neighbours:
    """A model whose scores depend on how many are asked together."""

    def __init__(self, dtype: torch.dtype, change: float) -> None:
        self.weights = torch.nn.Linear(1, 1, dtype=dtype).weight
        self._change = change

    def prepare(self, talks: list[Any]) -> int:
        return len(talks)

    def scores(self, n: int, steps: int) -> list[list[torch.Tensor]]:
        # Of spread 2: +1, -1, +1, -1; a change moves the first one.
        scores = torch.tensor([1.0, -1.0, 1.0, -1.0])
        scores[0] += self._change * (n > 1)
        return [[scores] * steps for _ in range(n)]


@pytest.mark.parametrize(
    ("dtype", "change", "expected"),
    [
        pytest.param(torch.float32, 0.001, TOGETHER, id="half a thousandth of float32 is rounding"),
        pytest.param(torch.float32, 0.01, ALONE, id="half a hundredth of float32 is not"),
        pytest.param(torch.bfloat16, 0.2, TOGETHER, id="a tenth of bfloat16 is rounding"),
        pytest.param(torch.bfloat16, 0.8, ALONE, id="four tenths of bfloat16 are not"),
    ],
)
def test_what_is_rounding_depends_on_the_precision(
    dtype: torch.dtype, change: float, expected: str, tmp_path: Path
) -> None:
    model: Any = Neighbours(dtype, change)
    assert trial(model, spec_of(tmp_path)) == expected


def test_a_family_that_takes_no_image_with_a_text_is_refused_before_a_question(
    tmp_path: Path,
) -> None:
    generic.build("fuyu", tmp_path / "fuyu")
    spec = spec_of(tmp_path / "fuyu", chat_template="plain")
    trials = BatchTrials(tmp_path / "processors.json")
    engine = TransformersEngine(spec, spec.path, IMAGES.__getitem__, trials=trials)
    with pytest.raises(
        ModelError,
        match=r"/fuyu: FuyuForCausalLM cannot be asked a question about an image by transformers "
        r'\(.*\)\. Serve it \(kind = "server"\), or take another model',
    ):
        identity_of(engine)
