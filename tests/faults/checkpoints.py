"""Hostile checkpoints beside a good one: each says why it is not taken, and the good one is."""

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from bench_resources.checkpoints.watched_folders import survey_folders
from tests.faults.table import Fault, FoundError, Trial

_NOW = 4e9  # s since the epoch: everything is settled
Spoil = Callable[[Path, Random], None]


def headed(header: object, length: int | None = None, weights: bytes = b"1234") -> bytes:
    """A file of safetensors with this header, said to be so long."""
    written = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(written) if length is None else length
    return struct.pack("<Q", size % 2**64) + written + weights


def tensor(first: Any, end: Any, **more: Any) -> dict[str, Any]:
    """A header of one tensor."""
    return {"w": {"dtype": "U8", "shape": [4], "data_offsets": [first, end], **more}}


def _weights(data: bytes) -> Spoil:
    return _file("model.safetensors", data)


def _file(name: str, data: bytes) -> Spoil:
    def spoil(folder: Path, _: Random) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)

    return spoil


def _index(weight_map: object) -> Spoil:
    def spoil(folder: Path, _: Random) -> None:
        (folder / "model.safetensors").unlink()
        written = json.dumps({"weight_map": weight_map})
        (folder / "model.safetensors.index.json").write_text(written)

    return spoil


def _special(make: Callable[[Path], object], name: str) -> Spoil:
    def spoil(folder: Path, _: Random) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return spoil


def _no_utf8(folder: Path, _: Random) -> None:
    shutil.copytree(folder, folder.parent / os.fsdecode(b"not-\xff\xfe-utf8"))


def _adapter(**config: Any) -> Spoil:
    def spoil(folder: Path, _: Random) -> None:
        (folder / "config.json").unlink()
        (folder / "model.safetensors").rename(folder / "adapter_model.safetensors")
        (folder / "adapter_config.json").write_text(json.dumps(config))

    return spoil


def written_checkpoint(folder: Path, weights: bytes) -> Path:
    """Write a checkpoint of a few bytes, which is whole."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "llava"}')
    (folder / "tokenizer.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(headed(tensor(0, 4), weights=weights))
    return folder


def _damaged(folder: Path, rng: Random) -> None:
    data = bytearray(headed(tensor(0, 4)))
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data))
        data[at : at + rng.choice((0, 1, 3))] = rng.randbytes(rng.choice((1, 1, 5)))
    (folder / "model.safetensors").write_bytes(data)


def _circle(folder: Path, _: Random) -> None:
    (folder / "inside").symlink_to(folder.parent, target_is_directory=True)


def _deep(folder: Path, _: Random) -> None:
    inner = folder
    for _depth in range(200):
        inner /= "deeper"
    inner.mkdir(parents=True)


SPOILS: dict[str, Spoil] = {
    "a header that nests 100,000 brackets": _weights(headed(b"[" * 100_000)),
    "a header of 2**63 bytes": _weights(headed({}, 2**63)),
    "a header that is a list": _weights(headed([1])),
    "a header that is not UTF-8": _weights(headed(b'{"\xff\xfe": 1}')),
    "offsets that end before they begin": _weights(headed(tensor(4, 0))),
    "an index that names a number": _index({"w": 7}),
    "an index that is a list": _index(["model.safetensors"]),
    "an index that names a file above": _index({"w": "../good/model.safetensors"}),
    "an index that names an absolute path": _index({"w": "/dev/zero"}),
    "an index that nests 100,000 brackets": _file(
        "model.safetensors.index.json", b"[" * 100_000),
    "an index that is not UTF-8": _file("model.safetensors.index.json", b"\xff\xfe{}"),
    "a config that nests 100,000 brackets": _file("config.json", b"[" * 100_000),
    "a config that is not UTF-8": _file("config.json", b"\xff\xfe{}"),
    "a config that is empty": _file("config.json", b""),
    "a config whose model_type is a number": _file("config.json", b'{"model_type": 7}'),
    "a folder for its weights": _special(Path.mkdir, "model.safetensors"),
    "a link to itself": _special(lambda place: place.symlink_to(place.name), "extra.json"),
    "a link to nowhere for its weights": _special(
        lambda place: place.symlink_to("nowhere"), "model.safetensors"),
    "a link to the folder above": _circle,
    "two hundred folders in each other": _deep,
    "a name that is not UTF-8": _no_utf8,
    "a zip for its weights that is cut off": _file("pytorch_model.bin", b"PK\3\4"),
    "an adapter without a base": _adapter(peft_type="LORA"),
    "an adapter whose base is a number": _adapter(peft_type="LORA", base_model_name_or_path=7),
    "an adapter whose base is itself": _adapter(peft_type="LORA", base_model_name_or_path="."),
    "an adapter whose kind is a list": _adapter(peft_type=[], base_model_name_or_path="o/m"),
}  # fmt: skip


def faults() -> list[Fault]:
    """One survey each, of a good checkpoint and a spoilt one."""
    rows = [_fault(name, spoil) for name, spoil in SPOILS.items()]
    return [*rows, _fault("a header with drawn damages", _damaged, drawn=True)]


def _fault(name: str, spoil: Spoil, *, drawn: bool = False) -> Fault:
    return Fault(
        group="checkpoints",
        name=name,
        made="beside a good checkpoint, in a watched folder",
        must="the good one is taken; the other one is taken too, or says why not",
        attempt=lambda trial: _surveyed(trial, spoil),
        drawn=drawn,
        longest=5.0,
    )


def _surveyed(trial: Trial, spoil: Spoil) -> str:
    root = trial.folder / "runs"
    written_checkpoint(root / "good", b"good")
    spoil(written_checkpoint(root / "hostile", b"evil"), trial.rng)
    survey = survey_folders([root], now=_NOW, settle_seconds=0, remembered={})
    names = [checkpoint.name for checkpoint in survey.finished]
    if "good" not in names:
        raise FoundError(f"the good one is not taken: {survey.unfinished}")
    json.dumps([names, survey.unfinished, survey.digests]).encode()  # what the sensor writes down
    str(survey.unfinished).encode()
    return "taken" if "hostile" in names else f"not taken: {_why(survey.unfinished):.90}"


def _why(unfinished: dict[str, str]) -> str:
    message = " ".join(unfinished.get("hostile", "not a checkpoint").split())
    return message.rpartition("/hostile")[2].strip("/: ") or message
