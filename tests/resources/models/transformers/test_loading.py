import io
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
    set_entries,
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


class _SystemCall:
    """Pickles as a call of ``os.system``."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch was-unpickled",)


PICKLE = pickle.dumps({"w": _SystemCall()}, protocol=2)


def zipped(data: bytes) -> bytes:
    """As torch writes a pickle."""
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        archive.writestr("archive/data.pkl", data)
    return file.getvalue()


def write(name: str, text: str) -> Callable[[Path], object]:
    """A change of a folder: writes a file."""
    return lambda folder: (folder / name).write_text(text)


@pytest.fixture
def copy(vlm: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(vlm, tmp_path / "copy"))


def test_a_report_of_transformers_is_logged_once(copy, capfd, caplog):
    with edited_tensors(copy / "model.safetensors") as tensors:
        tensors["unused"] = next(iter(tensors.values())).clone()
    for _ in range(2):
        load(spec_of(copy), pin(str(copy)))
    assert caplog.text.count("LOAD REPORT") == 1
    assert f"{copy} loads, and transformers reports:\nLlava" in caplog.text
    assert "LOAD REPORT" not in capfd.readouterr().err


def test_the_error_of_missing_tensors_has_a_sentence_and_the_report_of_transformers(copy):
    with edited_tensors(copy / "model.safetensors") as tensors:
        name = next(name for name in tensors if name.endswith("layers.1.mlp.up_proj.weight"))
        del tensors[name]
    with pytest.raises(ModelError) as raised:
        load(spec_of(copy), pin(str(copy)))
    sentence, _, report = str(raised.value).partition("\n")
    assert sentence.startswith(f"{copy}: 1 tensors are missing, such as ")
    assert report.startswith("LlavaForConditionalGeneration LOAD REPORT")
    assert "up_proj.weight" in report


def test_tensors_of_the_wrong_shape_are_named_with_both_shapes(copy: Path) -> None:
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


def quantize(folder: Path, **quantization_config: object) -> None:
    """Store the language model's matrices halved, as fp8 with a scale of two."""
    import torch

    with edited_tensors(folder / "model.safetensors") as tensors:
        for name in list(tensors):
            if "language" in name and name.endswith("_proj.weight"):
                tensors[name] = (tensors[name] / 2).to(torch.float8_e4m3fn)
                tensors[f"{name}_scale_inv"] = torch.full((1, 1), 2.0)
    if quantization_config:
        set_entries(folder / "config.json", quantization_config=quantization_config)


def test_fp8_weights_are_loaded_as_float32_without_a_gpu(vlm: Path, copy: Path) -> None:
    import torch

    quantize(copy, **_FP8)
    dequantized = load(spec_of(copy), pin(str(copy))).weights
    original = load(spec_of(vlm), pin(str(vlm))).weights
    assert {parameter.dtype for parameter in dequantized.parameters()} == {torch.float32}
    halved = (original.get_parameter(_Q_PROJ) / 2).to(torch.float8_e4m3fn)
    assert dequantized.get_parameter(_Q_PROJ).equal(2 * halved.float())


@pytest.mark.parametrize(
    ("config", "expected_message"),
    [
        pytest.param({"quant_method": "modelopt"}, "quantised by modelopt", id="another library's"),
        pytest.param({}, "has no quantization_config", id="no entry in the configuration"),
    ],
)
def test_quantized_weights_whose_scales_would_be_ignored_are_refused(
    copy: Path, config: dict[str, str], expected_message: str
) -> None:
    quantize(copy, **config)
    with pytest.raises(ModelError, match=f'{expected_message}.*Serve it: kind = "vllm"'):
        load(spec_of(copy), pin(str(copy)))


def test_images_are_prepared_in_the_dtype_of_the_weights(vlm: Path) -> None:
    """They are converted while tensors are prepared, so that the device does not wait."""
    import torch

    model = load(spec_of(vlm, dtype="bfloat16"), pin(str(vlm)))
    image = {"type": "image", "image": PILImage.new("RGB", (64, 64))}
    turn = {"role": "user", "content": [image, {"type": "text", "text": "What colour?"}]}
    inputs = model.prepare([[turn]]).inputs
    assert inputs["pixel_values"].dtype == torch.bfloat16
    assert inputs["input_ids"].dtype == torch.int64


def test_a_language_model_loads_only_with_text_only(tmp_path: Path) -> None:
    folder = save_tiny_language_model(tmp_path)
    with pytest.raises(
        ModelError, match=r"model_type llama is not a vision-language model.*text_only = true"
    ):
        load_weights(spec_of(folder), pin(str(folder)))
    assert load_weights(spec_of(folder, text_only=True), pin(str(folder)))


def test_an_unknown_family_is_named(copy: Path) -> None:
    set_entries(copy / "config.json", model_type="of_tomorrow")
    with pytest.raises(ModelError, match="does not support model_type of_tomorrow"):
        load(spec_of(copy), pin(str(copy)))


def raise_from_processors(monkeypatch: pytest.MonkeyPatch, exception: BaseException) -> None:
    def from_pretrained(*_: object, **__: object) -> None:
        raise exception

    monkeypatch.setattr("transformers.ProcessorMixin.from_pretrained", from_pretrained)


def test_an_error_of_a_library_is_a_model_error(vlm, tmp_path, monkeypatch):
    raise_from_processors(monkeypatch, ZeroDivisionError("odd"))
    with pytest.raises(ModelError, match=f"{vlm}: does not load: odd"):
        load(spec_of(vlm), pin(str(vlm)))
    with pytest.raises(ModelError, match=f"{vlm}: does not load: odd"):
        ImageDigests(tmp_path / "digests.json").digest(spec_of(vlm), pin(str(vlm)))


def test_an_interrupt_in_a_library_is_not_caught(vlm, tmp_path, monkeypatch):
    raise_from_processors(monkeypatch, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        load(spec_of(vlm), pin(str(vlm)))
    with pytest.raises(KeyboardInterrupt):
        ImageDigests(tmp_path / "digests.json").digest(spec_of(vlm), pin(str(vlm)))


def test_code_of_a_checkpoint_is_run_only_if_it_is_trusted(vlm: Path, copy: Path) -> None:
    with edited_tensors(copy / "model.safetensors") as tensors:  # named as that class names it
        tensors["lm_head.weight"] = tensors.pop("language_model.lm_head.weight")
    (copy / "own.py").write_text(_OWN_CODE)
    auto_map = {"AutoConfig": "own.OwnConfig", "AutoModelForImageTextToText": "own.OwnModel"}
    set_entries(copy / "config.json", model_type="of_our_own", auto_map=auto_map)
    with pytest.raises(ModelError, match="trust_remote_code = true"):
        load(spec_of(copy), pin(str(copy)))
    trusted = engine_of(copy, trust_remote_code=True)
    assert outputs(responses_of(trusted, _REQUESTS)) == outputs(
        responses_of(engine_of(vlm), _REQUESTS)
    )


def _set_text_for_number(folder: Path) -> None:
    set_entries(folder / "config.json", text_config={"model_type": "llama", "hidden_size": "many"})


def _replace_by_pickle(weights: bytes) -> Callable[[Path], None]:
    """A change of a folder: replaces its weights by a file for torch's unpickler."""

    def damage(folder: Path) -> None:
        (folder / "model.safetensors").unlink()
        (folder / "pytorch_model.bin").write_bytes(weights)

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_replace_by_pickle(PICKLE), id="a pickle that calls a program"),
        pytest.param(_replace_by_pickle(zipped(PICKLE)), id="a zipped pickle that calls a program"),
        pytest.param(_replace_by_pickle(b"x" * 100), id="no pickle"),
        pytest.param(_set_text_for_number, id="a text for a number"),
        pytest.param(write("config.json", "[" * 100_000), id="a config that nests too deep"),
        pytest.param(write("tokenizer.json", "[]"), id="a tokenizer of a list"),
    ],
)
def test_a_damaged_checkpoint_is_a_model_error_and_runs_no_code(copy, damage):
    damage(copy)
    with pytest.raises(ModelError, match=f"{copy}(: does not load: |.*: not JSON: )"):
        load(spec_of(copy), pin(str(copy)))
    assert not Path("was-unpickled").exists()


def test_a_processor_config_that_is_a_list_is_named(copy: Path) -> None:
    write("processor_config.json", "[]")(copy)
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
    set_entries(folder / "adapter_config.json", base_model_name_or_path=str(vlm))
    return folder


@needs_peft
def test_an_adapter_changes_responses_in_the_same_way_merged_or_not(vlm, tmp_path):
    adapter = save_adapter(vlm, tmp_path / "adapter")
    merged = outputs(responses_of(engine_of(adapter), _REQUESTS))
    unmerged = outputs(responses_of(engine_of(adapter, merge_adapter=False), _REQUESTS))
    assert merged == unmerged
    assert merged != outputs(responses_of(engine_of(vlm), _REQUESTS))


@needs_peft
@pytest.mark.parametrize("replaced", ["q_proj", "layers.1"])
def test_an_adapter_with_other_names_is_refused(vlm: Path, tmp_path: Path, replaced: str) -> None:
    adapter = save_adapter(vlm, tmp_path / "adapter")
    with edited_tensors(adapter / "adapter_model.safetensors") as tensors:
        for name in list(tensors):
            tensors[name.replace(replaced, "other")] = tensors.pop(name)
    with pytest.raises(ModelError, match="does not fit"):
        load(spec_of(adapter), pin(str(adapter)))


@needs_peft
def test_an_adapter_of_another_rank_than_its_config_is_refused(vlm: Path, tmp_path: Path) -> None:
    adapter = save_adapter(vlm, tmp_path / "adapter")
    set_entries(adapter / "adapter_config.json", r=8)  # its matrices are of rank 4
    with pytest.raises(ModelError, match="does not load"):
        load(spec_of(adapter), pin(str(adapter)))
