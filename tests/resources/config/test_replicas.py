"""What a local model's section may say of a Ray cluster, and what one machine makes of it."""

import importlib.util
from typing import Any

import pytest
from pydantic import ValidationError

from bench_assets.core.schema.errors import ModelError
from bench_resources.config.sections.local_models import TransformersSpec, VllmSpec
from bench_resources.runs.ray_cluster import connect


def transformers(**fields: Any) -> TransformersSpec:
    return TransformersSpec.model_validate({"kind": "transformers", "path": "m", **fields})


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"replicas": 2}, 'several replicas need on = "ray"', id="replicas of here"),
        pytest.param({"on": "ray"}, 'needs device = "cuda" or "cpu"', id="any device"),
        pytest.param(
            {"on": "ray", "device": "cuda:1"}, 'needs device = "cuda" or "cpu"',
            id="a certain GPU, which Ray gives out",
        ),
        pytest.param({"needs": {"gpu": -1}}, "gpu = -1.0: expected a finite number", id="less"),
        pytest.param({"needs": {"x": float("nan")}}, "expected a finite number", id="no number"),
        pytest.param({"needs": {"GPU": 1}}, "GPU: unknown; did you mean gpu", id="as Ray has it"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(fields: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        transformers(**fields)


@pytest.mark.parametrize(
    ("fields", "gpus"),
    [
        pytest.param({}, 0, id="on whatever there is"),
        pytest.param({"device": "cpu", "on": "ray"}, 0, id="on the CPU"),
        pytest.param({"device": "cuda", "on": "ray"}, 1, id="on a GPU"),
        pytest.param({"devices": ["cuda:0", "cuda:1"]}, 2, id="on two GPUs"),
        pytest.param({"device": "cuda", "needs": {"gpu": 0.5}}, 0.5, id="on half of one"),
    ],
)
def test_a_model_takes_the_gpus_of_its_device(fields: dict[str, Any], gpus: float) -> None:
    assert transformers(**fields).gpus == gpus


def test_vllm_takes_as_many_as_share_its_layers() -> None:
    assert VllmSpec.model_validate({"kind": "vllm", "path": "m"}).gpus == 1
    wide = {"kind": "vllm", "path": "m", "tensor_parallel_size": 4, "on": "ray", "replicas": 2}
    assert VllmSpec.model_validate(wide).gpus == 4


def test_without_ray_it_is_said_what_to_install() -> None:
    if importlib.util.find_spec("ray"):
        pytest.skip("Ray is installed")
    with pytest.raises(
        ModelError,
        match=r"needs ray, which is not installed: pip install 'bench-assets\[cluster\]'",
    ):
        connect()
