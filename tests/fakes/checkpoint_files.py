"""Checkpoints of a few bytes, as training writes them, and a survey of their folders."""

import json
import struct
import time
from pathlib import Path

from bench_resources.checkpoints.watched_folders import CheckpointSurvey, survey_folders


def safetensors(weights: bytes) -> bytes:
    """A file with one tensor; weights of equal length have the same header."""
    header = {"w": {"dtype": "U8", "shape": [len(weights)], "data_offsets": [0, len(weights)]}}
    header_json = json.dumps(header).encode()
    return struct.pack("<Q", len(header_json)) + header_json + weights


def write_checkpoint(folder: Path, weights: bytes = b"1234", shards: int = 1) -> Path:
    """Write config, tokenizer and weights; with several shards, each contains all weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "tokenizer.json").write_text("{}")
    if shards == 1:
        (folder / "model.safetensors").write_bytes(safetensors(weights))
        return folder
    names = [f"model-{number}-of-{shards}.safetensors" for number in range(1, shards + 1)]
    for name in names:
        (folder / name).write_bytes(safetensors(weights))
    index = {"weight_map": {f"w{index}": name for index, name in enumerate(names)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    return folder


def write_adapter(folder: Path, base: str = "org/vlm", weights: bytes = b"1234") -> Path:
    """Write a LoRA as PEFT does."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {"peft_type": "LORA", "base_model_name_or_path": base, "r": 8}
    (folder / "adapter_config.json").write_text(json.dumps(config))
    (folder / "adapter_model.safetensors").write_bytes(safetensors(weights))
    return folder


def look(*folders: Path, settle_seconds: float = 0, base: str = "") -> CheckpointSurvey:
    """Survey folders as they are now."""
    return survey_folders(
        folders, now=time.time() + 1, settle_seconds=settle_seconds, remembered={}, base=base
    )


def write_files(folder: Path, *names: str) -> None:
    """Write small files and their folders; JSON files contain an empty object."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"{}" if name.endswith(".json") else b"x")
