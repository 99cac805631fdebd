"""Checkpoints that break, stop or deceive whoever looks at them, each made in milliseconds.

Each is a whole checkpoint of ``watched.write_checkpoint`` in two shards, or an adapter, to which
one thing was done.
"""

import json
import os
import pickle
import socket
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


def a_socket(place: Path) -> None:
    # A socket's path has at most 108 bytes, and pytest's are longer.
    here = Path.cwd()
    os.chdir(place.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(place.name)
    finally:
        os.chdir(here)


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


def a_pickle_of_no_bytes(folder: Path) -> None:
    for file in folder.glob("model*"):
        file.unlink()
    os.mkfifo(folder / "pytorch_model.bin")


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
    "an index that says a tensor twice": (
        writing(INDEX, f'{{"weight_map": {{"a": "{SHARD}", "a": "{SHARD}"}}}}'),
        "'a' is there twice",
    ),
    "an index that nests": (writing(INDEX, _DEEP), "nested too deeply"),
    "an index that is not UTF-8": (writing(INDEX, b'{"\xff": 1}'), "not UTF-8 at byte 2"),
    "an index that is a FIFO": (instead(INDEX, os.mkfifo), "a FIFO where a file"),
    "an index without end": (instead(INDEX, link_to("/dev/zero")), "a device where a file"),
    "a header that nests": (with_header(_DEEP.encode()), "nested too deeply"),
    "a header of a list": (with_header(b"[]"), "no JSON object"),
    "a header of many values": (with_header(b"[" + b"0," * 5_000_000 + b"0]"), "more than"),
    "a header that says a tensor twice": (
        with_header(b'{"w": {}, "w": {}}'),
        "'w' is there twice",
    ),
    "a header longer than its file": (writing(SHARD, b"\xff" * 8 + b"{}"), "do not hold a header"),
    "a header of eight bytes too many": (
        writing(SHARD, struct.pack("<Q", 10) + b"{}"),
        "do not hold a header",
    ),
    "a tensor that is a number": (with_tensors(w=5), "'w': no JSON object"),
    "a tensor without a place": (with_tensors(w={"dtype": "U8", "shape": [4]}), "data_offsets"),
    "a negative offset": (with_tensors(w=tensor(-4, 0)), "data_offsets '[-4, 0]'"),
    "an infinite offset": (with_tensors(w=tensor(0, float("inf"))), "data_offsets"),
    "an offset that is no number": (with_tensors(w=tensor(0, float("nan"))), "NaN is no value"),
    "an offset that is a truth": (with_tensors(w=tensor(False, True)), "data_offsets"),
    "an offset that is a text": (with_tensors(w=tensor("0", "4")), "data_offsets"),
    "an offset of 400 digits": (with_tensors(w=tensor(0, _LONG)), "data_offsets"),
    "an offset of 5000 digits": (with_header(b'{"w": ' + b"9" * 5000 + b"}"), "not one of safe"),
    "three offsets": (with_tensors(w=tensor(0, 4) | {"data_offsets": [0, 2, 4]}), "data_offsets"),
    "a tensor that ends before it starts": (with_tensors(w=tensor(4, 0)), "data_offsets 4 and 0"),
    "overlapping tensors": (with_tensors(v=tensor(0, 4), w=tensor(0, 4)), "overlaps the one"),
    "a hole between tensors": (with_tensors(b"12345678", w=tensor(4, 8)), "leaves a hole"),
    "offsets beyond the file": (with_tensors(w=tensor(0, 40, shape=[40])), "its header says"),
    "a shape of another size": (with_tensors(w=tensor(0, 4, shape=[5])), "are not its shape"),
    "a shape of 10,000 dimensions": (
        with_tensors(w=tensor(0, 4, shape=[2**62] * 10_000)),
        "'w': shape '[4611686018427387904",
    ),
    "a negative shape": (with_tensors(w=tensor(0, 4, shape=[-2, -2])), "shape"),
    "a tensor without a type": (with_tensors(w=tensor(0, 4, dtype=None)), "no dtype"),
    "a tensor with half a letter": (
        with_header(b'{"\\ud800": {"dtype":"U8","shape":[4],"data_offsets":[0,4]}}', b"1234"),
        "its name is not UTF-8",
    ),
    "a tensor of a name without end": (with_tensors(**{"n" * 10**6: 5}), "nnn...': no JSON"),
    "a tensor that paints the terminal": (with_tensors(**{"\x1b[31m": 5}), "'\\x1b[31m': no JSON"),
    "a tensor named by bytes": (with_header(b'{"\xff": {}}'), "not UTF-8 at byte 2"),
    "metadata that are no texts": (with_header(b'{"__metadata__": {"a": 5}}'), "__metadata__"),
    "an empty shard": (writing(SHARD, b""), "0 bytes do not hold a header"),
    "a shard cut short": (without_the_other_shard, "its header says"),
    "a shard that is a FIFO": (instead(SHARD, os.mkfifo), f"{SHARD}: a FIFO where a file"),
    "a shard that is a socket": (instead(SHARD, a_socket), f"{SHARD}: a socket where a file"),
    "a shard that is a device": (instead(SHARD, link_to("/dev/zero")), "a device where a file"),
    "a shard that is a folder": (instead(SHARD, Path.mkdir), f"{SHARD}: a folder where a file"),
    "a shard that is a link to nothing": (instead(SHARD, link_to("gone")), "a link to what is not"),
    "a shard that is a link to itself": (instead(SHARD, link_to(SHARD)), "Too many levels of"),
    "a shard that is a link to a terminal": (instead(SHARD, link_to("/dev/tty")), "a device"),
    "a config that is a FIFO": (instead("config.json", os.mkfifo), "config.json: a FIFO"),
    "a tokenizer that is a FIFO": (instead("tokenizer.json", os.mkfifo), "tokenizer.json: a FIFO"),
    "code that is a FIFO": (instead("modeling_x.py", os.mkfifo), "modeling_x.py: a FIFO"),
    "pickled weights that are a FIFO": (
        a_pickle_of_no_bytes,
        "pytorch_model.bin: a FIFO",
    ),
    "an adapter's config that is a FIFO": (
        instead("adapter_config.json", os.mkfifo),
        "adapter_config.json: a FIFO",
    ),
    "a file whose name is not UTF-8": (
        writing(os.fsdecode(b"caf\xe9.json"), "{}"),
        "caf\\udce9.json: its name is not UTF-8; rename it",
    ),
    "a config of a list": (writing("config.json", "[]"), "not a JSON object"),
    "a config that nests": (writing("config.json", _DEEP), "nested too deeply"),
    "a config of NaN": (writing("config.json", '{"model_type": NaN}'), "NaN is no value"),
    "a config that says a name twice": (
        writing("config.json", '{"model_type": "a", "model_type": "b"}'),
        "'model_type' is there twice",
    ),
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
    "a zip of nothing": (writing("model.safetensors", b"PK\x03\x04"), "do not hold a header"),
}
