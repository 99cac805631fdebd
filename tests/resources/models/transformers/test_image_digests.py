"""The digest of what a processor makes of an image: remembered, and new only where tensors are."""

import json
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
    """The part of the identity that is the digest; "" without one."""
    engine = TransformersEngine(
        spec_of(folder, **fields), str(folder), ALBUM.read, digests=ImageDigests(file)
    )
    parts = dict(part.partition("=")[::2] for part in identity_of(engine).split(","))
    return parts.get("images", "")


def changed(vlm: Path, folder: Path, change: Change) -> Path:
    """Copy a checkpoint, with its processor_config.json changed in place."""
    folder.mkdir()
    for file in vlm.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    file = folder / "processor_config.json"
    settings = json.loads(file.read_text())
    change(settings)
    file.write_text(json.dumps(settings))
    return folder


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param(lambda s: s["image_processor"].update(resample=0), False, id="resampling"),
        pytest.param(
            lambda s: s["image_processor"].update(do_convert_rgb=False),
            True,
            id="colours, of an image that has them",
        ),
        pytest.param(
            lambda s: s["image_processor"].update(
                image_mean=[mean + 1e-7 for mean in s["image_processor"]["image_mean"]]
            ),
            True,
            id="less than a CPU may round",
        ),
    ],
)
def test_a_digest_changes_with_the_tensors(
    vlm: Path, tmp_path: Path, change: Change, same: bool
) -> None:
    other = changed(vlm, tmp_path / "other", change)
    file = tmp_path / "p.json"
    assert (digest(other, file) == digest(vlm, file)) == same


def test_arguments_of_the_processor_count(vlm: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    given = {"do_normalize": False}
    assert digest(vlm, file, processor_kwargs=given) != digest(vlm, file)
    assert len(json.loads(file.read_text())) == 2


def test_after_an_upgrade_it_is_made_anew(vlm: Path, tmp_path: Path) -> None:
    file = tmp_path / "p.json"
    now = digest(vlm, file)
    [(key, _)] = json.loads(file.read_text()).items()
    older = key.replace(f"transformers={version('transformers')}", "transformers=5.0.0")
    file.write_text(json.dumps({older: "00000000"}))
    assert digest(vlm, file) == now
    assert json.loads(file.read_text()) == {older: "00000000", key: now}


@pytest.mark.parametrize("damage", [b"", b"[1, 2]"], ids=["empty", "a list"])
def test_a_damaged_file_is_replaced(vlm: Path, tmp_path: Path, damage: bytes) -> None:
    file = tmp_path / "p.json"
    file.write_bytes(damage)
    made = digest(vlm, file)
    assert list(json.loads(file.read_text()).values()) == [made]
    assert list(tmp_path.iterdir()) == [file]


def test_models_by_name_remember_in_the_home(vlm: Path, tmp_path: Path) -> None:
    toml = f'[models.m]\nkind = "transformers"\npath = "{vlm}"\ndevice = "cpu"\n'
    with models_of(tmp_path, toml).open("m") as model:
        signature = model.signature
    known = json.loads((tmp_path / "processors.json").read_text())
    made, trial = sorted(known.values())
    assert f"images={made}" in signature
    assert trial == "in batches"
