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
from tests.resources.models.transformers.tiny_engine import identity_of, responses_of, spec_of

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
    responses = responses_of(engine, [Request(prompt=prompt) for prompt in _PROMPTS])
    return [replace(response, seconds=None) for response in responses]


def test_emu3_is_asked_alone_and_responds_as_its_model_card_does(emu3, tmp_path, caplog):
    with caplog.at_level(logging.WARNING, "bench_assets.local"):
        engine = engine_of(emu3, tmp_path)
        assert identity_of(engine).endswith(",alone")
    assert "sent one at a time: in a batch its scores change" in caplog.text
    processor = load(spec_of(emu3), engine.checkpoint).processor
    card = Card(emu3, processor, plain=False)
    n_tokens = 6  # the first half of the card's twelve
    for prompt, response in zip(_PROMPTS, responses_to_prompts(engine), strict=True):
        text, n_prompt = card.ask(prompt)
        assert response.prompt_tokens == n_prompt
        assert response.completion_tokens == n_tokens
        assert text.startswith(response.text.rstrip("\ufffd"))


def test_a_model_whose_context_is_too_short_for_the_trial_is_asked_alone(tmp_path: Path) -> None:
    folder = save_tiny_vlm(tmp_path / "short")
    config = folder / "config.json"
    entry = '"max_position_embeddings": '
    config.write_text(config.read_text().replace(f"{entry}1024", f"{entry}8"))
    engine = engine_of(folder, tmp_path)
    assert identity_of(engine).endswith(",alone")


def test_a_trial_loads_once_and_is_remembered(emu3: Path, tmp_path: Path) -> None:
    loaded: list[TransformersSpec] = []

    def load_and_note(spec: TransformersSpec, checkpoint: Any) -> TransformersModel:
        loaded.append(spec)
        return load(spec, checkpoint)

    engine = engine_of(emu3, tmp_path, load_and_note)
    assert responses_to_prompts(engine)
    assert len(loaded) == 1
    later_engine = engine_of(emu3, tmp_path, load_and_note)
    assert identity_of(later_engine) == identity_of(engine)
    assert len(loaded) == 1


def refuse_to_load(*_: object) -> TransformersModel:
    raise AssertionError("loaded")


def test_without_trials_nothing_is_loaded_and_only_remembered_results_count(emu3, tmp_path):
    def identity_without_trial() -> str:
        trials = BatchTrials(tmp_path / "processors.json", tries=False)
        spec = spec_of(emu3, max_tokens=6)
        return identity_of(
            TransformersEngine(spec, str(emu3), IMAGES.__getitem__, refuse_to_load, trials=trials)
        )

    assert "alone" not in identity_without_trial()
    identity_after_trial = identity_of(engine_of(emu3, tmp_path))
    assert identity_without_trial() == identity_after_trial


class ModelOfBatchSize:
    """A model whose scores change when it is asked several prompts together."""

    def __init__(self, dtype: torch.dtype, change: float) -> None:
        self.weights = torch.nn.Linear(1, 1, dtype=dtype).weight
        self._change = change

    def prepare(self, conversations: list[Any]) -> int:
        return len(conversations)

    def scores(self, n: int, steps: int) -> list[list[torch.Tensor]]:
        scores = torch.tensor([1.0, -1.0, 1.0, -1.0])  # their range is 2
        if n > 1:
            scores[0] += self._change
        return [[scores] * steps for _ in range(n)]


@pytest.mark.parametrize(
    ("dtype", "change", "expected"),
    [
        pytest.param(torch.float32, 0.001, TOGETHER, id="0.0005 of the range in float32"),
        pytest.param(torch.float32, 0.01, ALONE, id="0.005 of the range in float32"),
        pytest.param(torch.bfloat16, 0.2, TOGETHER, id="0.1 of the range in bfloat16"),
        pytest.param(torch.bfloat16, 0.8, ALONE, id="0.4 of the range in bfloat16"),
    ],
)
def test_the_change_that_counts_as_rounding_depends_on_the_precision(
    dtype: torch.dtype, change: float, expected: str, tmp_path: Path
) -> None:
    model: Any = ModelOfBatchSize(dtype, change)
    assert trial(model, spec_of(tmp_path)) == expected


def test_a_family_without_questions_about_images_is_refused_by_the_trial(tmp_path: Path) -> None:
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
