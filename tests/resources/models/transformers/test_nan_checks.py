import shutil
from pathlib import Path

import pytest
import torch

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.loading import load_weights
from bench_resources.models.transformers.nan_checks import FiniteCheck, refuse_infinite_weights
from tests.fakes.tiny_checkpoint import edited_tensors, save_tiny_language_model
from tests.resources.models.transformers.tiny_engine import (
    engine_of,
    outputs,
    responses_of,
    spec_of,
)

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_language_model(tmp_path_factory.mktemp("llm"))


def _copy_with_change(folder, change, copy):
    """Copy a checkpoint and change each of its tensors in place."""
    shutil.copytree(folder, copy)
    with edited_tensors(copy / "model.safetensors") as tensors:
        for name, tensor in tensors.items():
            change(name, tensor)
    return copy


def test_weights_too_large_for_the_precision_are_named(language_model, tmp_path):
    def enlarge_norm(name: str, tensor: torch.Tensor) -> None:
        if name == "model.norm.weight":
            tensor[0] = 1e6  # float16 ends at 65504

    folder = _copy_with_change(language_model, enlarge_norm, tmp_path / "large")
    pinned = pin(str(folder))
    assert load_weights(spec_of(folder, text_only=True), pinned)
    with pytest.raises(ModelError, match=r"'model\.norm\.weight', as float16"):
        load_weights(spec_of(folder, text_only=True, dtype="float16"), pinned)


class _OneTensor(torch.nn.Module):
    def __init__(self, tensor: torch.Tensor, *, buffer: bool) -> None:
        super().__init__()
        if buffer:
            self.register_buffer("mask", tensor)
        else:
            self.mask = torch.nn.Parameter(tensor, requires_grad=False)


@pytest.mark.parametrize(
    ("tensor", "buffer"),
    [
        pytest.param(torch.tensor([0.0, NAN]), True, id="NaN in a buffer"),
        pytest.param(torch.tensor([0.0, -INF]), False, id="infinity in a parameter"),
        pytest.param(torch.tensor(NAN), False, id="one number"),
        pytest.param(torch.tensor([1.0, NAN], dtype=torch.bfloat16), False, id="bfloat16"),
        pytest.param(torch.tensor([1.0, NAN]).to(torch.float8_e4m3fn), False, id="float8"),
    ],
)
def test_tensors_with_nan_or_infinity_are_refused(tensor: torch.Tensor, buffer: bool) -> None:
    with pytest.raises(ModelError, match=r"here: NaN.* in its tensor 'mask'"):
        refuse_infinite_weights(_OneTensor(tensor, buffer=buffer), "here")


@pytest.mark.parametrize(
    ("tensor", "buffer"),
    [
        pytest.param(torch.tensor([0.0, -INF]), True, id="a mask in a buffer"),
        pytest.param(torch.tensor([1, 2]), False, id="whole numbers"),
        pytest.param(torch.zeros(0, 3), False, id="no numbers at all"),
        pytest.param(torch.ones(2).to(torch.float8_e4m3fn), False, id="float8"),
        pytest.param(torch.empty(2, device="meta"), False, id="nothing loaded yet"),
    ],
)
def test_finite_tensors_and_masks_are_accepted(tensor: torch.Tensor, buffer: bool) -> None:
    refuse_infinite_weights(_OneTensor(tensor, buffer=buffer), "here")


def test_nan_in_scores_is_the_error_of_one_request(language_model: Path, tmp_path: Path) -> None:
    """Only the letter Q has a value in the dimension that is scaled by 1e30 and then squared."""
    from transformers import AutoTokenizer

    letter = AutoTokenizer.from_pretrained(language_model).convert_tokens_to_ids("Q")

    def enlarge_letter(name: str, tensor: torch.Tensor) -> None:
        if "embed_tokens" in name:
            tensor[:, 0] = 0
            tensor[letter, 0] = 1
        elif name == "model.layers.0.input_layernorm.weight":
            tensor[0] = 1e30

    folder = _copy_with_change(language_model, enlarge_letter, tmp_path / "loud")
    engine = engine_of(folder, text_only=True)
    yes, letter_q, red = (Request(prompt=Prompt.of(text)) for text in ("a yes", "a QQ", "a red"))
    first, failed, last = responses_of(engine, [yes, letter_q, red])
    assert failed.error.startswith("the model's scores are NaN or infinite from token 1 of")
    assert failed.text == ""
    assert outputs([first, last]) == outputs(responses_of(engine, [yes, red]))


def test_the_first_bad_token_is_found_for_each_row_over_its_beams() -> None:
    check = FiniteCheck()
    scores_by_token = [
        [[0.0, 1.0], [-INF, 1.0], [0.0, 0.0], [0.0, 0.0]],
        [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0, INF]],
        [[NAN, 1.0], [-INF, -INF], [0.0, 0.0], [0.0, NAN]],
    ]
    for rows in scores_by_token:
        scores = torch.tensor(rows)
        assert check(torch.zeros(4, 1), scores) is scores
    assert check.first_bad_tokens(4) == [2, 2, None, 1]
    assert check.first_bad_tokens(2) == [2, 1]  # two beams a row


def test_without_scores_no_token_is_bad() -> None:
    assert FiniteCheck().first_bad_tokens(2) == [None, None]
