import json
import re
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.transformers.image_digests import ImageDigests
from tests.fakes.home import models_of
from tests.resources.models.transformers.tiny_engine import ALBUM, identity_of, spec_of

Change = Callable[[dict[str, Any]], object]


def digest(folder: Path, file: Path, **fields: object) -> str:
    """The digest in the identity of an engine that remembers it in a file; "" without one."""
    engine = TransformersEngine(
        spec_of(folder, **fields), str(folder), ALBUM.read, digests=ImageDigests(file)
    )
    match = re.search(r",images=([^,]+)", identity_of(engine))
    return match[1] if match else ""


def copy_with_change(vlm: Path, folder: Path, change: Change) -> Path:
    """Copy a checkpoint and change its processor_config.json."""
    shutil.copytree(vlm, folder)
    file = folder / "processor_config.json"
    settings = json.loads(file.read_text())
    change(settings)
    file.write_text(json.dumps(settings))
    return folder


def test_another_resampling_changes_the_digest(vlm: Path, tmp_path: Path) -> None:
    changed = copy_with_change(
        vlm, tmp_path / "changed", lambda s: s["image_processor"].update(resample=0)
    )
    file = tmp_path / "p.json"
    assert digest(changed, file) != digest(vlm, file)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            lambda s: s["image_processor"].update(do_convert_rgb=False),
            id="colours, of an image that has them",
        ),
        pytest.param(
            lambda s: s["image_processor"].update(
                image_mean=[mean + 1e-7 for mean in s["image_processor"]["image_mean"]]
            ),
            id="less than a CPU may round",
        ),
    ],
)
def test_the_digest_does_not_change_without_the_tensors(vlm, tmp_path, change):
    changed = copy_with_change(vlm, tmp_path / "changed", change)
    file = tmp_path / "p.json"
    assert digest(changed, file) == digest(vlm, file)


def test_arguments_of_the_processor_change_the_digest(vlm: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    unnormalized = digest(vlm, file, processor_kwargs={"do_normalize": False})
    assert unnormalized != digest(vlm, file)


def test_a_digest_of_another_version_of_transformers_is_not_used(vlm: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    current = digest(vlm, file)
    [(key, _)] = json.loads(file.read_text()).items()
    older = key.replace(f"transformers={version('transformers')}", "transformers=5.0.0")
    file.write_text(json.dumps({older: "00000000"}))
    assert digest(vlm, file) == current
    assert json.loads(file.read_text()) == {older: "00000000", key: current}


@pytest.mark.parametrize("damage", [b"", b"[1, 2]"], ids=["empty", "a list"])
def test_a_damaged_file_is_replaced(vlm: Path, tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "p.json"
    file.write_bytes(damage)
    image_digest = digest(vlm, file)
    assert list(json.loads(file.read_text()).values()) == [image_digest]
    assert list(tmp_path.iterdir()) == [file]


def test_named_models_remember_digest_and_trial_in_the_home(vlm: Path, tmp_path: Path) -> None:
    toml = f'[models.m]\nkind = "transformers"\npath = "{vlm}"\ndevice = "cpu"\n'
    with models_of(tmp_path, toml).open("m") as model:
        signature = model.signature
    remembered = json.loads((tmp_path / "processors.json").read_text())
    image_digest, trial = sorted(remembered.values())  # a digest sorts before "in batches"
    assert f"images={image_digest}" in signature
    assert trial == "in batches"
