"""PEFT adapters and their base models."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench_assets.core.schema.errors import ModelError
from resources.checkpoints.files import (
    ADAPTER_CONFIG,
    has_weights,
    is_adapter,
    loaded_files,
    read_object,
    shortened,
)

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
"""What a hub id looks like."""

# What adds to the weights of a model, so that it can be put on them and merged.
_LIKE_LORA = {
    *{"ADALORA", "BOFT", "BONE", "C3A", "DELORA", "FOURIERFT", "HRA", "IA3", "LN_TUNING", "LOHA"},
    *{"LOKR", "LORA", "MISS", "OFT", "RANDLORA", "ROAD", "SHIRA", "TRAINABLE_TOKENS", "VBLORA"},
    *{"VERA", "WAVEFT"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterBase:
    """The base of an adapter."""

    place: str  # a folder, or a hub id
    revision: str  # of a hub id


def base_of(folder: Path, base: str = "", revision: str = "main") -> AdapterBase:
    """Find the base of an adapter, without asking the hub.

    Args:
        folder: The adapter.
        base: Where that lies now; "": as the adapter says. A folder may be written relative to the
            adapter's.
        revision: Of a hub id; "main": as the adapter says.

    Raises:
        ModelError: If the adapter is broken, cannot be put on weights by PEFT alone, or there is
            no such base.
    """
    config = read_object(folder / ADAPTER_CONFIG)
    _require_peft_support(folder, config.get("peft_type"))
    written = base or config.get("base_model_name_or_path")
    if not isinstance(written, str) or not written:
        raise ModelError(
            f"{folder / ADAPTER_CONFIG}: does not say what it was trained on"
            " (base_model_name_or_path); set base = FOLDER or hub id"
        )
    place = _place(folder, written)
    if is_adapter(Path(place)):
        raise ModelError(
            f"{folder}: its base {place} is an adapter itself; merge that into its own base"
            " (merge_and_unload of PEFT), and set base to the result"
        )
    if revision == "main" and not base:
        revision = shortened(config.get("revision") or "main")
    return AdapterBase(place=place, revision=revision)


def _require_peft_support(folder: Path, kind: object) -> None:
    if kind is None:
        raise ModelError(f"{folder / ADAPTER_CONFIG}: no field peft_type: not an adapter of PEFT")
    if not isinstance(kind, str) or kind not in _LIKE_LORA:
        raise ModelError(
            f"{folder / ADAPTER_CONFIG}: peft_type {shortened(kind)}: only adapters that add to"
            " weights, such as LORA, can be put on a model here"
        )
    names = [file.name for file in folder.iterdir()]
    if "non_lora_trainables.bin" in names:
        raise ModelError(
            f"{folder}: a LoRA of LLaVA, whose projector lies in non_lora_trainables.bin, which"
            f" PEFT ignores. Merge it: python scripts/merge_lora_weights.py --model-path"
            f" {folder} --model-base BASE --save-model-path MERGED"
        )
    if has_weights(names):
        raise ModelError(
            f"{folder}: has an adapter and a whole model. Move one of them to another folder,"
            f" or delete {ADAPTER_CONFIG} if it was merged"
        )


def _place(folder: Path, written: str) -> str:
    for place in _places(folder, written):
        loaded_files(place)  # whole, or it says what is missing
        return str(place.resolve())
    if not HUB_ID.fullmatch(written):
        raise ModelError(
            f"{folder}: its base {shortened(written)} does not exist. Set base to a folder or id"
        )
    return written


def _places(folder: Path, written: str) -> Iterator[Path]:
    """Folders that a base may name."""
    with suppress(OSError, RuntimeError):  # a name that is too long; an unknown user's home
        yield from filter(Path.is_dir, (folder / Path(written).expanduser(), Path(written)))
