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
        revision: Revision of a hub id; "main" without ``base``: as recorded in the adapter.

    Raises:
        ModelError: If the adapter is broken, PEFT alone cannot apply it, or the base does not
            exist or is an adapter.
    """
    config = read_object(folder / ADAPTER_CONFIG)
    _require_peft_support(folder, config.get("peft_type"))
    base_name = base or config.get("base_model_name_or_path")
    if not isinstance(base_name, str) or not base_name:
        raise ModelError(
            f"{folder / ADAPTER_CONFIG}: no base_model_name_or_path. Set base"
            " to the folder or hub id of the base model"
        )
    place = _resolve_base(folder, base_name)
    if is_adapter(Path(place)):
        raise ModelError(
            f"{folder}: its base {place} is an adapter itself; merge that into its own base"
            " (merge_and_unload of PEFT), and set base to the result"
        )
    if revision == "main" and not base:
        revision = shorten(config.get("revision") or "main")
    return AdapterBase(place=place, revision=revision)


def _require_peft_support(folder: Path, method: object) -> None:
    """Raise ModelError if PEFT alone cannot apply the adapter, or a model is in its folder too."""
    if method is None:
        raise ModelError(f"{folder / ADAPTER_CONFIG}: no field peft_type: not an adapter of PEFT")
    if not isinstance(method, str) or method not in _MERGEABLE_METHODS:
        raise ModelError(
            f"{folder / ADAPTER_CONFIG}: peft_type {shorten(method)}: not supported (expected"
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


def _resolve_base(folder: Path, base: str) -> str:
    """Absolute path of a base that is a folder; else its hub id."""
    if base_folder := next(_existing_folders(folder, base), None):
        loaded_files(base_folder)  # raises if a file is missing
        return str(base_folder.resolve())
    if not HUB_ID.fullmatch(base):
        raise ModelError(
            f"{folder}: its base {shorten(base)} does not exist. Set base to a folder or hub id"
        )
    return base


def _existing_folders(folder: Path, base: str) -> Iterator[Path]:
    """Existing folders that a base may refer to."""
    with suppress(OSError, RuntimeError):  # a name that is too long; an unknown user's home
        yield from filter(Path.is_dir, (folder / Path(base).expanduser(), Path(base)))
