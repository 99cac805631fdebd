from hashlib import sha256
from pathlib import Path

from bench_resources.config.sections.models import EMBEDDED_MODELS

# SHA-256 of the first release: responses that people stored are found by these weights.
SHIPPED = {
    "tiny-vlm/step-2940": "a0269dfd5e877c99575f857ae42b4413a92e9b3a56bf9883f8c8e236332d0e32",
    "tiny-vlm/step-4440": "fd0c3e6f7ac73841ae4c4c29c27aa35081d87a7e57bc1196c97c5f0f64f0b810",
    "tiny-vlm/step-6840": "3440a8d57073f3884dcf987f26b0b81ed3fa1f4f4b57407c6cee84e7cd68bb5a",
}


def test_the_weights_that_ship_are_small_and_never_change() -> None:
    files = {name: Path(EMBEDDED_MODELS[name].place, "model.safetensors") for name in SHIPPED}
    assert {name: sha256(file.read_bytes()).hexdigest() for name, file in files.items()} == SHIPPED
    assert sum(file.stat().st_size for file in files.values()) <= 20_000_000
