"""NaN and infinity: in weights they are the checkpoint's error, in scores that request's."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.loading import load_weights
from bench_resources.models.transformers.nan_checks import FiniteCheck, refuse_infinite_weights
from tests.fakes.tiny_checkpoint import edited_tensors, save_tiny_language_model
from tests.resources.models.transformers.tiny_engine import engine_of, responses_of, spec_of

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_language_model(tmp_path_factory.mktemp("llm"))


def _changed(folder: Path, change: Callable[[str, torch.Tensor], object], copy: Path) -> Path:
    shutil.copytree(folder, copy)
    with edited_tensors(copy / "model.safetensors") as tensors:
        for name, tensor in tensors.items():
            change(name, tensor)
    return copy


def test_weights_too_large_for_the_precision_are_named(
    language_model: Path, tmp_path: Path
) -> None:
    def enlarging(name: str, tensor: torch.Tensor) -> None:
        if name == "model.norm.weight":
            tensor[0] = 1e6  # float16 ends at 65504

    folder = _changed(language_model, enlarging, tmp_path / "large")
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
    ("tensor", "buffer", "refused"),
    [
        pytest.param(torch.tensor([0.0, -INF]), True, False, id="a mask in a buffer"),
        pytest.param(torch.tensor([0.0, NAN]), True, True, id="NaN in a buffer"),
        pytest.param(torch.tensor([0.0, -INF]), False, True, id="infinity in a parameter"),
        pytest.param(torch.tensor([1, 2]), False, False, id="whole numbers"),
        pytest.param(torch.zeros(0, 3), False, False, id="no numbers at all"),
        pytest.param(torch.tensor(NAN), False, True, id="one number"),
        pytest.param(torch.tensor([1.0, NAN], dtype=torch.bfloat16), False, True, id="bfloat16"),
        pytest.param(torch.tensor([1.0, NAN]).to(torch.float8_e4m3fn), False, True, id="8 bits"),
        pytest.param(torch.ones(2).to(torch.float8_e4m3fn), False, False, id="8 good bits"),
        pytest.param(torch.empty(2, device="meta"), False, False, id="nothing loaded yet"),
    ],
)
def test_which_tensors_are_refused(tensor: torch.Tensor, buffer: bool, refused: bool) -> None:
    model = _OneTensor(tensor, buffer=buffer)
    if not refused:
        refuse_infinite_weights(model, "here")
        return
    with pytest.raises(ModelError, match=r"here: NaN.* in its tensor 'mask'"):
        refuse_infinite_weights(model, "here")


def test_scores_that_are_no_numbers_are_that_conversations_error(
    language_model: Path, tmp_path: Path
) -> None:
    """One letter alone has something in a dimension where attention squares 1e30."""
    from transformers import AutoTokenizer

    letter = AutoTokenizer.from_pretrained(language_model).convert_tokens_to_ids("Q")

    def enlarging(name: str, tensor: torch.Tensor) -> None:
        if "embed_tokens" in name:
            tensor[:, 0] = 0
            tensor[letter, 0] = 1
        elif name == "model.layers.0.input_layernorm.weight":
            tensor[0] = 1e30

    folder = _changed(language_model, enlarging, tmp_path / "loud")
    requests = [Request(prompt=Prompt.of(text)) for text in ("a yes", "a QQ", "a red")]
    good = responses_of(engine_of(folder, text_only=True), [requests[0], requests[2]])
    first, bad, last = responses_of(engine_of(folder, text_only=True), requests)
    assert bad.error.startswith("the model's scores are NaN or infinite from token 1 of")
    assert bad.text == ""
    assert [first.text, last.text] == [one.text for one in good]
    assert not first.error + last.error


def test_rows_and_beams_are_kept_apart_and_the_first_step_is_named() -> None:
    watched = FiniteCheck()
    steps = [
        [[0.0, 1.0], [-INF, 1.0], [0.0, 0.0], [0.0, 0.0]],
        [[0.0, 1.0], [0.0, 1.0], [0.0, 0.0], [0.0, INF]],
        [[NAN, 1.0], [-INF, -INF], [0.0, 0.0], [0.0, NAN]],
    ]
    for scores in steps:
        given = torch.tensor(scores)
        assert watched(torch.zeros(4, 1), given) is given
    assert watched.first_bad_tokens(4) == [2, 2, None, 1]
    assert watched.first_bad_tokens(2) == [2, 1]
    assert FiniteCheck().first_bad_tokens(2) == [None, None]
