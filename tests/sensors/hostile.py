"""Checkpoints that break, stop or deceive whoever looks at them, each made in milliseconds.

Each is a whole checkpoint of ``watched.write_checkpoint`` in two shards, or an adapter, to which
one thing was done.
"""

import json
import os
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from tests.sensors.watched import safetensors, write_adapter

Damage: TypeAlias = Callable[[Path], object]

SHARD = "model-1-of-2.safetensors"
INDEX = "model.safetensors.index.json"


def with_header(header: bytes, rest: bytes = b"") -> Damage:
    """A shard of this header, and what comes after it."""
    written = struct.pack("<Q", len(header)) + header + rest
    return lambda folder: (folder / SHARD).write_bytes(written)


def with_tensors(rest: bytes = b"1234", **tensors: object) -> Damage:
    """A shard of these tensors, as its header describes them."""
    return with_header(json.dumps(tensors).encode(), rest)


def tensor(first: Any, end: Any, **other: Any) -> dict[str, Any]:
    """A tensor of bytes as a header describes it; one of four bytes if nothing else is said."""
    return {"dtype": "U8", "shape": [4], "data_offsets": [first, end]} | other


def writing(name: str, written: str | bytes) -> Damage:
    """A file of the folder in which this is written."""
    as_bytes = written if isinstance(written, bytes) else written.encode()
    return lambda folder: (folder / name).write_bytes(as_bytes)


def with_index(weight_map: object) -> Damage:
    return writing(INDEX, json.dumps({"weight_map": weight_map}))


def instead(name: str, make: Callable[[Path], object]) -> Damage:
    """Something else where a file was, or is looked for."""

    def damage(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        make(folder / name)

    return damage


def link_to(target: str) -> Callable[[Path], None]:
    return lambda place: place.symlink_to(target)


def adapter_saying(**config: object) -> Damage:
    """An adapter, and nothing else, with this in its configuration."""

    def damage(folder: Path) -> None:
        for file in folder.iterdir():
            file.unlink()
        write_adapter(folder)
        said = {"peft_type": "LORA", "base_model_name_or_path": "org/vlm", "r": 8} | config
        (folder / "adapter_config.json").write_text(json.dumps(said))

    return damage


class _Calls:
    """Pickles as a call of ``os.system``."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch was-unpickled",)


def pickled(protocol: int, *, zipped: bool) -> Damage:
    """Weights of torch that call a program when they are unpickled."""
    evil = pickle.dumps({"w": _Calls()}, protocol=protocol)

    def damage(folder: Path) -> None:
        for file in folder.glob("model*"):
            file.unlink()
        weights = folder / "pytorch_model.bin"
        if not zipped:
            weights.write_bytes(evil)
            return
        with zipfile.ZipFile(weights, "w") as archive:
            archive.writestr("archive/data.pkl", evil)

    return damage


def without_the_other_shard(folder: Path) -> None:
    with_index({"a": SHARD})(folder)
    (folder / SHARD).write_bytes(safetensors(b"1234")[:-2])


_DEEP = "[" * 100_000
_LONG = 10**400

HOSTILE: dict[str, tuple[Damage, str]] = {
    # what is damaged -> how, and what is said
    "an index that names a number": (with_index({"a": 5}), "lies in '5'"),
    "an index that names nothing": (with_index({"a": None}), "lies in 'None'"),
    "an index that names a list": (with_index({"a": [SHARD]}), "no .safetensors file"),
    "an index that names the folder": (with_index({"a": ""}), "lies in ''"),
    "an index of a list": (with_index([SHARD]), "no weight_map"),
    "an index of a number": (writing(INDEX, "5"), "not a JSON object"),
    "an index that leads out": (with_index({"a": "../../etc/passwd.safetensors"}), "outside"),
    "an index with a whole path": (with_index({"a": "/etc/passwd.safetensors"}), "outside"),
    "an index that names no weights": (with_index({"a": "config.json"}), "no .safetensors file"),
    "an index that names a NUL": (with_index({"a": "\0.safetensors"}), "cannot be read"),
    "an index that names half a letter": (with_index({"a": "\ud800.safetensors"}), "\\ud800"),
    "an index with a name too long": (with_index({"a": "x" * 300 + ".safetensors"}), "too long"),
    "an index that nests": (writing(INDEX, _DEEP), "nested too deeply"),
    "an index that is not UTF-8": (writing(INDEX, b'{"\xff": 1}'), "not UTF-8 at byte 2"),
    "an index that is a FIFO": (instead(INDEX, os.mkfifo), "not a regular file"),
    "a header that is no JSON": (with_header(b"{"), "half-written or corrupt"),
    "offsets beyond the file": (with_tensors(w=tensor(0, 40, shape=[40])), "half-written or"),
    "a hole between tensors": (with_tensors(b"12345678", w=tensor(4, 8)), "half-written or"),
    "an empty shard": (writing(SHARD, b""), "half-written or corrupt"),
    "a shard cut short": (without_the_other_shard, "half-written"),
    "a shard that is a folder": (instead(SHARD, Path.mkdir), f"{SHARD}: not a regular file"),
    "a shard that is a link to nothing": (instead(SHARD, link_to("gone")), "broken link"),
    "a file whose name is not UTF-8": (
        writing(os.fsdecode(b"caf\xe9.json"), "{}"),
        "caf\\udce9.json: its name is not UTF-8; rename it",
    ),
    "a config of a list": (writing("config.json", "[]"), "not a JSON object"),
    "a config that nests": (writing("config.json", _DEEP), "nested too deeply"),
    "a config of 5000 digits": (writing("config.json", f'{{"a": {"9" * 5000}}}'), "not JSON"),
    "a config without end": (
        lambda folder: os.truncate(folder / "config.json", 2**40),
        "no more than 268435456 are read",
    ),
    "an adapter on itself": (adapter_saying(base_model_name_or_path="."), "an adapter itself"),
    "an adapter on a number": (adapter_saying(base_model_name_or_path=5), "does not say what"),
    "an adapter on a NUL": (adapter_saying(base_model_name_or_path="a\0"), "is not there"),
    "an adapter on a name too long": (
        adapter_saying(base_model_name_or_path="x" * 10**6),
        "xxx... is not there",
    ),
    "an adapter at nobody's home": (
        adapter_saying(base_model_name_or_path="~no-such-user/x"),
        "~no-such-user/x is not there",
    ),
    "an adapter of a list": (adapter_saying(peft_type=["LORA"]), "peft_type ['LORA']"),
    "an adapter of a type without end": (adapter_saying(peft_type="x" * 10**6), "xxx..."),
    "a pickle that calls a program": (pickled(2, zipped=False), "calls 'posix system'"),
    "a new pickle that calls a program": (pickled(4, zipped=False), "calls 'STACK_GLOBAL'"),
    "a zipped pickle that calls a program": (pickled(2, zipped=True), "calls 'posix system'"),
    "a zip of nothing": (writing("model.safetensors", b"PK\x03\x04"), "half-written or corrupt"),
}
