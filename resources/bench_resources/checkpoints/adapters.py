"""PEFT adapters and their base models."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.files import (
    ADAPTER_CONFIG,
    has_weights,
    is_adapter,
    loaded_files,
    read_object,
    shorten,
)

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
"""Pattern of a hub id: ``owner/name``."""

# PEFT methods whose adapters add to a model's weights and can be merged into them.
_MERGEABLE_METHODS = {
    *{"ADALORA", "BOFT", "BONE", "C3A", "DELORA", "FOURIERFT", "HRA", "IA3", "LN_TUNING", "LOHA"},
    *{"LOKR", "LORA", "MISS", "OFT", "RANDLORA", "ROAD", "SHIRA", "TRAINABLE_TOKENS", "VBLORA"},
    *{"VERA", "WAVEFT"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterBase:
    """The base model of an adapter."""

    place: str  # a folder, or a hub id
    revision: str  # of a hub id


def base_of(folder: Path, base: str = "", revision: str = "main") -> AdapterBase:
    """Find the base model of an adapter, without requests to the hub.

    Args:
        folder: Folder of the adapter.
        base: Folder or hub id of the base; "": as recorded in the adapter. A folder may be
            relative to the adapter's.
        revision: Revision of a hub id; "main": as recorded in the adapter.

    Raises:
        ModelError: If the adapter is broken, PEFT alone cannot apply it, or the base does not
            exist.
    """
    config = read_object(folder / ADAPTER_CONFIG)
    _require_peft_support(folder, config.get("peft_type"))
    written = base or config.get("base_model_name_or_path")
    if not isinstance(written, str) or not written:
        raise ModelError(
            f"{folder / ADAPTER_CONFIG}: no base_model_name_or_path. Set base"
            " to the folder or hub id of the base model"
        )
    location = _place(folder, written)
    if is_adapter(Path(location)):
        raise ModelError(
            f"{folder}: its base {location} is an adapter itself; merge that into its own base"
            " (merge_and_unload of PEFT), and set base to the result"
        )
    if revision == "main" and not base:
        revision = shorten(config.get("revision") or "main")
    return AdapterBase(place=location, revision=revision)


def _require_peft_support(folder: Path, kind: object) -> None:
    if kind is None:
        raise ModelError(f"{folder / ADAPTER_CONFIG}: no field peft_type: not an adapter of PEFT")
    if not isinstance(kind, str) or kind not in _MERGEABLE_METHODS:
        raise ModelError(
            f"{folder / ADAPTER_CONFIG}: peft_type {shorten(kind)}: not supported (expected"
            " a method that adds to weights, such as LORA)"
        )
    names = [file.name for file in folder.iterdir()]
    if "non_lora_trainables.bin" in names:
        raise ModelError(
            f"{folder}: a LLaVA LoRA whose projector is in non_lora_trainables.bin, which"
            " PEFT ignores. Merge it with LLaVA's own script"
        )
    if has_weights(names):
        raise ModelError(
            f"{folder}: contains an adapter and a complete model. Move one to another folder,"
            f" or delete {ADAPTER_CONFIG} if it was merged"
        )


def _place(folder: Path, written: str) -> str:
    for path in _places(folder, written):
        loaded_files(path)  # raises if a file is missing
        return str(path.resolve())
    if not HUB_ID.fullmatch(written):
        raise ModelError(
            f"{folder}: its base {shorten(written)} does not exist. Set base to a folder or hub id"
        )
    return written


def _places(folder: Path, written: str) -> Iterator[Path]:
    """Existing folders that a base may refer to."""
    with suppress(OSError, RuntimeError):  # a name that is too long; an unknown user's home
        yield from filter(Path.is_dir, (folder / Path(written).expanduser(), Path(written)))
