"""What quantised checkpoints need, and that what cannot run is refused before it is loaded."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.quantization import (
    REQUIREMENTS,
    check_quantization,
    quantization_requirement,
)


def by(method: str, **further: Any) -> dict[str, Any]:
    return {"quantization_config": {"quant_method": method, **further}}


@pytest.mark.parametrize(
    ("config", "method"),
    [
        pytest.param({}, None, id="not quantised"),
        pytest.param({"quantization_config": None}, None, id="nothing said"),
        pytest.param(by("awq"), "awq", id="the model's own"),
        pytest.param({"text_config": by("gptq")}, "gptq", id="the language model's"),
        pytest.param(by("bitsandbytes", load_in_4bit=True), "bitsandbytes_4bit", id="4 bits"),
        pytest.param(by("bitsandbytes", load_in_8bit=True), "bitsandbytes_8bit", id="8 bits"),
        pytest.param(
            {"quantization_config": {"load_in_8bit": True}}, "bitsandbytes_8bit", id="of old"
        ),
    ],
)
def test_the_method_is_read_where_transformers_reads_it(
    config: dict[str, Any], method: str | None
) -> None:
    needed = quantization_requirement(config)
    assert (needed.method if needed else None) == method


@pytest.mark.parametrize(
    ("config", "device", "says"),
    [
        pytest.param(by("awq"), "cpu", "pip install 'gptqmodel'", id="AWQ"),
        pytest.param(by("gptq"), "cpu", "pip install 'optimum' 'gptqmodel'", id="GPTQ"),
        pytest.param(by("bitsandbytes"), "cpu", "'bitsandbytes>=", id="bitsandbytes"),
        pytest.param(by("compressed-tensors"), "cpu", "'compressed-tensors>=", id="LLM Compressor"),
        pytest.param(by("aqlm"), "cuda:1", "'aqlm", id="AQLM"),
        pytest.param(by("torchao"), "cpu", "'torchao'", id="torchao"),
        pytest.param(by("quanto"), "cpu", "'optimum-quanto'", id="a module below a package"),
        pytest.param(by("hqq"), "cuda", "'hqq>=", id="HQQ"),
        pytest.param(by("hqq"), "cpu", "runs on cuda, not on cpu", id="HQQ without a GPU"),
        pytest.param(by("fbgemm_fp8"), "cpu", "runs on cuda", id="fbgemm without a GPU"),
        pytest.param(by("metal"), "cuda:0", "runs on mps, not on cuda:0", id="for Apple's alone"),
        pytest.param(by("nvfp4"), "cuda", "only vLLM loads", id="what transformers does not load"),
        pytest.param(by("zip"), "cuda", "quantised by zip, expected one of", id="unknown"),
        pytest.param(by(""), "cuda", "no named method", id="no method"),
        pytest.param(
            {"quantization_config": "int4"}, "cpu", "by int4, expected", id="not an object"
        ),
    ],
)
def test_what_would_not_load_is_refused_with_what_it_needs(
    tmp_path: Path, config: dict[str, Any], device: str, says: str
) -> None:
    with pytest.raises(ModelError, match=says):
        check_quantization(config, device)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=f"{tmp_path}: quantised"):
        check_quantization(tmp_path, device)


@pytest.mark.parametrize("method", ["fp8", "mxfp4", "mxfp8", "bitnet"])
def test_what_transformers_does_by_itself_is_let_through(method: str) -> None:
    check_quantization(by(method), "cpu")


def test_every_method_of_transformers_is_in_the_table() -> None:
    from transformers.quantizers.auto import AUTO_QUANTIZER_MAPPING

    assert set(REQUIREMENTS) == set(AUTO_QUANTIZER_MAPPING) - {"gguf"}
