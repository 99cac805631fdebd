"""Finding, checking and identifying checkpoints."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Request
from bench_assets.core.schema.errors import ModelError
from tests.resources.models.transformers.tiny_engine import (
    MIXED,
    engine_of,
    identity_of,
    responses_of,
)
from tests.tiny_checkpoint import save_tiny_vlm


@pytest.fixture(scope="module")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))


def test_identity_is_the_content_not_the_name(vlm: Path, tmp_path: Path) -> None:
    copy = tmp_path / "another name"
    shutil.copytree(vlm, copy)
    (copy / "README.md").write_text("not read by anything")
    (copy / "trainer_state.json").write_text("{}")
    trained = save_tiny_vlm(tmp_path / "trained", seed=1)
    same = identity_of(engine_of(vlm))
    assert same.startswith("sha256:")
    assert identity_of(engine_of(copy)) == same
    assert identity_of(engine_of(copy, batch_size=1)) == same
    variants = [
        identity_of(engine_of(trained)),
        identity_of(engine_of(vlm, dtype="bfloat16")),
        identity_of(engine_of(vlm, max_image_pixels=100)),
        identity_of(engine_of(vlm, text_only=True)),
        identity_of(engine_of(vlm, compile=True)),
    ]
    assert len({same, *variants}) == 6


def _with_half_the_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:200_000])


def _without_a_tensor(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    del tensors[min(tensors)]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def _without_processor(folder: Path) -> None:
    (folder / "processor_config.json").unlink()


def _without_chat_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        pytest.param(shutil.rmtree, "no such folder", id="no folder"),
        pytest.param(_with_half_the_weights, "half-written or", id="half a file of weights"),
        pytest.param(_without_a_tensor, "1 tensors are missing", id="a tensor missing"),
        pytest.param(_without_processor, "does not load: no processor of", id="only a tokenizer"),
        pytest.param(_without_chat_template, "no chat template", id="a base model"),
    ],
)
def test_a_checkpoint_that_is_not_whole_is_named(
    vlm: Path, tmp_path: Path, damage: Callable[[Path], None], says: str
) -> None:
    folder = tmp_path / "damaged"
    shutil.copytree(vlm, folder)
    damage(folder)
    with pytest.raises(ModelError, match=says) as raised:
        responses_of(engine_of(folder), [Request(prompt=MIXED[0])])
    assert str(folder) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(
        ModelError, match="package:no_such_package is not installed: pip install no-such-package"
    ):
        identity_of(engine_of("package:no_such_package"))


COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _cached(hf_home: Path, name: str, file: str, written: str) -> None:
    """Write a repository with one file into a local cache of the hub."""
    repository = hf_home / "hub" / f"models--some--{name}"
    (repository / "snapshots" / COMMIT).mkdir(parents=True)
    (repository / "snapshots" / COMMIT / file).write_text(written)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(COMMIT)


def test_a_hub_id_is_pinned_to_the_commit_in_the_cache(tmp_path: Path) -> None:
    _cached(tmp_path, "model", "config.json", "{}")
    assert _offline_identity(tmp_path, "some/model") == f"some/model@{COMMIT}"
    missing = _offline_identity(tmp_path, "other/model")
    assert missing.startswith("other/model: no such folder; the hub cannot be reached")


def test_a_model_of_layers_in_folders_is_pinned_to_its_commit(tmp_path: Path) -> None:
    _cached(tmp_path, "layers", "modules.json", "[]")
    assert _offline_identity(tmp_path, "some/layers") == f"some/layers@{COMMIT}"


def test_an_adapter_of_a_hub_is_pinned_with_its_base(tmp_path: Path) -> None:
    _cached(tmp_path, "model", "config.json", "{}")
    says = '{"peft_type": "LORA", "base_model_name_or_path": "some/model"}'
    _cached(tmp_path, "lora", "adapter_config.json", says)
    snapshot = tmp_path / "hub" / "models--some--lora" / "snapshots" / COMMIT
    (snapshot / "adapter_model.bin").write_bytes(b"x")
    pinned = _offline_identity(tmp_path, "some/lora")
    assert pinned.startswith(f"some/model@{COMMIT}+adapter:sha256:")


def _offline_identity(hf_home: Path, hub_id: str) -> str:
    # A process of its own: huggingface_hub reads the environment once, when it is imported.
    program = (
        "import sys\n"
        "from bench_assets.core.schema.errors import ModelError\n"
        "from bench_resources.checkpoints.identity import pin\n"
        "try: print(pin(sys.argv[1]).content)\n"
        "except ModelError as why: print(why)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, hub_id],
        env={"HF_HOME": str(hf_home), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()
