"""Loading weights: what is not whole, not known or not trusted is named."""

import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image as PILImage

from bench_assets.core.schema.chat import Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin
from bench_resources.models.transformers.image_digests import ImageDigests
from bench_resources.models.transformers.loading import load_weights
from bench_resources.models.transformers.model import load
from tests.fakes.tiny_checkpoint import edited_tensors, save_tiny_language_model
from tests.resources.models.transformers.tiny_engine import (
    MIXED,
    engine_of,
    outputs,
    responses_of,
    spec_of,
)

_REQUESTS = [Request(prompt=prompt) for prompt in MIXED]
_OWN_CODE = """
from transformers import LlavaConfig, LlavaForConditionalGeneration


class OwnConfig(LlavaConfig):
    model_type = "of_our_own"


class OwnModel(LlavaForConditionalGeneration):
    config_class = OwnConfig
"""


class _Calls:
    """Pickles as a call of ``os.system``."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch was-unpickled",)


PICKLE = pickle.dumps({"w": _Calls()}, protocol=2)


def zipped(data: bytes) -> bytes:
    """As torch writes a pickle."""
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        archive.writestr("archive/data.pkl", data)
    return file.getvalue()


def writing(name: str, written: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(written)


@pytest.fixture
def copy(vlm: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(vlm, tmp_path / "copy"))


def change(file: Path, **entries: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | entries))


def test_the_report_of_transformers_comes_once_behind_a_sentence(
    copy: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    weights = copy / "model.safetensors"
    with edited_tensors(weights) as tensors:
        name = next(name for name in tensors if name.endswith("layers.1.mlp.up_proj.weight"))
        tensors["unused"] = tensors[name] * 1
    for _ in range(2):
        load(spec_of(copy), pin(str(copy)))
    assert caplog.text.count("LOAD REPORT") == 1
    assert f"{copy} loads, and transformers reports:\nLlava" in caplog.text
    with edited_tensors(weights) as tensors:
        del tensors[name]
    with pytest.raises(ModelError) as refused:
        load(spec_of(copy), pin(str(copy)))
    sentence, _, report = str(refused.value).partition("\n")
    assert sentence.startswith(f"{copy}: 1 tensors are missing, such as ")
    assert report.startswith("LlavaForConditionalGeneration LOAD REPORT")
    assert "up_proj.weight" in report
    assert "LOAD REPORT" not in capfd.readouterr().err.replace(caplog.text, "")


def test_tensors_of_the_wrong_shape_are_named_with_both(copy: Path) -> None:
    with edited_tensors(copy / "model.safetensors") as tensors:
        name = next(name for name in tensors if name.endswith("norm.weight") and "language" in name)
        tensors[name] = tensors[name][:31].clone()
    with pytest.raises(ModelError, match=r"1 tensors have the wrong shape.*: \(31,\), not \(32,\)"):
        load(spec_of(copy), pin(str(copy)))


_Q_PROJ = "model.language_model.layers.0.self_attn.q_proj.weight"
_FP8 = {
    "quant_method": "fp8",
    "weight_block_size": [128, 128],
    "modules_to_not_convert": ["lm_head", "vision_tower", "multi_modal_projector"],
}


def quantize(folder: Path, **how: object) -> None:
    """Halve every matrix of the text half, with a scale of two beside it."""
    import torch

    with edited_tensors(folder / "model.safetensors") as tensors:
        for name in [n for n in tensors if "language" in n and n.endswith("_proj.weight")]:
            tensors[name] = (tensors[name] / 2).to(torch.float8_e4m3fn)
            tensors[f"{name}_scale_inv"] = torch.full((1, 1), 2.0)
    if how:
        change(folder / "config.json", quantization_config=how)


def test_fp8_weights_are_scaled_back_where_no_gpu_multiplies_them(vlm: Path, copy: Path) -> None:
    import torch

    quantize(copy, **_FP8)
    read = load(spec_of(copy), pin(str(copy))).weights
    whole = load(spec_of(vlm), pin(str(vlm))).weights
    assert {parameter.dtype for parameter in read.parameters()} == {torch.float32}
    halved = (whole.get_parameter(_Q_PROJ) / 2).to(torch.float8_e4m3fn)
    assert read.get_parameter(_Q_PROJ).equal(2 * halved.float())


@pytest.mark.parametrize(
    ("how", "says"),
    [
        pytest.param({"quant_method": "modelopt"}, "quantised by modelopt", id="another library's"),
        pytest.param({}, "has no quantization_config", id="a configuration that is silent"),
    ],
)
def test_weights_that_would_be_read_without_their_scales_are_refused(
    copy: Path, how: dict[str, str], says: str
) -> None:
    quantize(copy, **how)
    with pytest.raises(ModelError, match=f'{says}.*Serve it: kind = "vllm"'):
        load(spec_of(copy), pin(str(copy)))


def test_images_are_prepared_in_the_dtype_of_the_weights(vlm: Path) -> None:
    """In a thread of the makers: the device does not wait for it."""
    import torch

    model = load(spec_of(vlm, dtype="bfloat16"), pin(str(vlm)))
    image = {"type": "image", "image": PILImage.new("RGB", (64, 64))}
    turn = {"role": "user", "content": [image, {"type": "text", "text": "What colour?"}]}
    inputs = model.prepare([[turn]]).inputs
    assert inputs["pixel_values"].dtype == torch.bfloat16
    assert inputs["input_ids"].dtype == torch.int64


def test_a_model_that_sees_nothing_is_named_with_what_to_do(tmp_path: Path) -> None:
    folder = save_tiny_language_model(tmp_path)
    with pytest.raises(
        ModelError, match=r"model_type llama is not a vision-language model.*text_only = true"
    ):
        load_weights(spec_of(folder), pin(str(folder)))
    assert load_weights(spec_of(folder, text_only=True), pin(str(folder)))


def test_an_unknown_family_is_named(copy: Path) -> None:
    change(copy / "config.json", model_type="of_tomorrow")
    with pytest.raises(ModelError, match="does not support model_type of_tomorrow"):
        load(spec_of(copy), pin(str(copy)))


def test_whatever_a_library_raises_is_our_error_but_the_end_of_the_program(
    vlm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_pretrained(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr("transformers.ProcessorMixin.from_pretrained", from_pretrained)
    for read in (load, ImageDigests(tmp_path / "digests.json").digest):
        raised: BaseException = ZeroDivisionError("odd")
        with pytest.raises(ModelError, match=f"{vlm}: does not load: odd"):
            read(spec_of(vlm), pin(str(vlm)))
        raised = KeyboardInterrupt()
        with pytest.raises(KeyboardInterrupt):
            read(spec_of(vlm), pin(str(vlm)))


def test_code_of_a_checkpoint_is_run_only_if_it_is_trusted(vlm: Path, copy: Path) -> None:
    with edited_tensors(copy / "model.safetensors") as tensors:  # as that class writes it
        tensors["lm_head.weight"] = tensors.pop("language_model.lm_head.weight")
    (copy / "own.py").write_text(_OWN_CODE)
    own = {"AutoConfig": "own.OwnConfig", "AutoModelForImageTextToText": "own.OwnModel"}
    change(copy / "config.json", model_type="of_our_own", auto_map=own)
    with pytest.raises(ModelError, match="trust_remote_code = true"):
        load(spec_of(copy), pin(str(copy)))
    trusted = engine_of(copy, trust_remote_code=True)
    assert outputs(responses_of(trusted, _REQUESTS)) == outputs(
        responses_of(engine_of(vlm), _REQUESTS)
    )


def _with_numbers_for_texts(folder: Path) -> None:
    change(folder / "config.json", text_config={"model_type": "llama", "hidden_size": "many"})


def _with_pickled(weights: bytes) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(weights)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_with_pickled(PICKLE), id="a pickle that calls a program"),
        pytest.param(_with_pickled(zipped(PICKLE)), id="a zipped pickle that calls a program"),
        pytest.param(_with_pickled(b"x" * 100), id="no pickle"),
        pytest.param(_with_numbers_for_texts, id="a text for a number"),
        pytest.param(writing("config.json", "[" * 100_000), id="a config that nests"),
        pytest.param(writing("tokenizer.json", "[]"), id="a tokenizer of a list"),
    ],
)
def test_whatever_does_not_load_is_our_error_and_runs_nothing(
    copy: Path, damage: Callable[[Path], object]
) -> None:
    damage(copy)
    with pytest.raises(ModelError, match=f"{copy}(: does not load: |.*: not JSON: )"):
        load(spec_of(copy), pin(str(copy)))
    assert not Path("was-unpickled").exists()


def test_a_processor_of_a_list_is_named(copy: Path) -> None:
    writing("processor_config.json", "[]")(copy)
    with pytest.raises(ModelError, match=r"processor_config\.json: not a JSON object"):
        load(spec_of(copy), pin(str(copy)))


needs_peft = pytest.mark.skipif(
    find_spec("peft") is None, reason="needs pip install 'bench-assets[local]'"
)


def save_adapter(vlm: Path, folder: Path) -> Path:
    """Write a LoRA of random matrices for a checkpoint."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import LlavaForConditionalGeneration

    torch.manual_seed(0)
    base = LlavaForConditionalGeneration.from_pretrained(vlm)
    targets = r".*language_model.*\.(q_proj|v_proj)"
    adapted = get_peft_model(base, LoraConfig(r=4, target_modules=targets))
    with torch.no_grad():
        for name, weights in adapted.named_parameters():
            if "lora_" in name:
                weights.normal_(0, 0.5)
    adapted.save_pretrained(folder)
    change(folder / "adapter_config.json", base_model_name_or_path=str(vlm))
    return folder


@needs_peft
def test_an_adapter_changes_responses_merged_or_not(vlm: Path, tmp_path: Path) -> None:
    adapter = save_adapter(vlm, tmp_path / "adapter")
    merged = outputs(responses_of(engine_of(adapter), _REQUESTS))
    beside = outputs(responses_of(engine_of(adapter, merge_adapter=False), _REQUESTS))
    assert merged == beside
    assert merged != outputs(responses_of(engine_of(vlm), _REQUESTS))


@needs_peft
def test_an_adapter_that_does_not_fit_is_refused(vlm: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    adapter = save_adapter(vlm, tmp_path / "adapter")
    weights = adapter / "adapter_model.safetensors"
    tensors = load_file(weights)
    for renamed in ("q_proj", "layers.1"):
        save_file({name.replace(renamed, "other"): t for name, t in tensors.items()}, weights)
        with pytest.raises(ModelError, match="does not fit"):
            load(spec_of(adapter), pin(str(adapter)))
    save_file(tensors, weights)
    change(adapter / "adapter_config.json", r=8)  # of rank 4
    with pytest.raises(ModelError, match="does not load"):
        load(spec_of(adapter), pin(str(adapter)))
