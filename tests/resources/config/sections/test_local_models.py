"""What a local model's section may say of the resources of a run."""

from typing import Any

import pytest
from pydantic import ValidationError

from bench_resources.config.sections.local_models import TransformersSpec, VllmSpec


def transformers(**fields: Any) -> TransformersSpec:
    return TransformersSpec.model_validate({"kind": "transformers", "path": "m", **fields})


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"needs": {"gpu": -1}}, "gpu = -1.0: expected a finite number", id="less"),
        pytest.param({"needs": {"x": float("nan")}}, "expected a finite number", id="no number"),
        pytest.param({"needs": {"GPU": 1}}, "GPU: unknown; did you mean gpu", id="as Ray has it"),
    ],
)
def test_what_cannot_be_meant_is_refused(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        transformers(**fields)


def vllm(**fields: Any) -> VllmSpec:
    return VllmSpec.model_validate({"kind": "vllm", "path": "m", **fields})


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"serve": "vllm serve {path} --port {port}"}, "serve does not go", id="serve"),
        pytest.param({"base_url": "http://s/v1"}, "base_url does not go", id="an address"),
        pytest.param({"program": "bin/vllm"}, "or an absolute path", id="a path from nowhere"),
        pytest.param({"options": "--a | b"}, r"options: \| needs a shell", id="a shell's words"),
        pytest.param({"options": "--a '"}, "options: cannot be split", id="no words"),
        pytest.param(
            {"options": "--api-key sesame-0pen"},
            r"options: contains a key \(--api-key\)",
            id="a key",
        ),
        pytest.param({"tensor_parallel_size": 0}, "greater than 0", id="no GPU"),
        pytest.param({"batch_size": 4}, "Extra inputs are not permitted", id="of transformers"),
    ],
)
def test_what_vllm_does_not_take_is_refused(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        vllm(**fields)
