"""Any damage to a checkpoint's files: nothing but our own errors comes out, and soon."""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench_assets.core.schema.errors import BenchError
from resources.checkpoints.adapters import base_of
from resources.checkpoints.identity import fingerprint, pin
from resources.checkpoints.weight_files import refuse_foreign_code, tensor_spans
from tests.sensors.hostile import INDEX, SHARD, pickled
from tests.sensors.watched import look, write_adapter, write_checkpoint

_LONGEST = 10.0  # s
_QUICK = settings(max_examples=12, deadline=None, derandomize=True)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TENSORS = st.dictionaries(
    st.text(max_size=3) | st.just("__metadata__"),
    JSON
    | st.fixed_dictionaries(
        {},
        optional={
            "dtype": st.sampled_from(["U8", "F32", "F4", "?"]) | JSON,
            "shape": st.lists(st.integers(-1, 2**64), max_size=3) | JSON,
            "data_offsets": st.lists(st.integers(-1, 2**64), max_size=3) | JSON,
        },
    ),
    max_size=3,
)


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """Bytes of which some were changed, taken out, put in or cut off."""
    written = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(written) - 1)))
        end = at + draw(st.sampled_from([0, 1, 2, 8]))
        written[at:end] = draw(st.binary(max_size=4) | st.sampled_from([b"[", b"9" * 5000, b'"']))
    return bytes(written[: draw(st.integers(0, len(written)))] if draw(st.booleans()) else written)


@contextmanager
def _checkpoint() -> Iterator[Path]:
    """A folder for one example; pytest's is one for all of a test's."""
    with tempfile.TemporaryDirectory() as place:
        yield write_checkpoint(Path(place, "b"), b"5678", shards=2)


def _refused_at_most(*reads: Callable[[], object]) -> None:
    begun = time.monotonic()
    for read in reads:
        with suppress(BenchError):
            read()
    assert time.monotonic() - begun < _LONGEST


_WHOLE = write_checkpoint(Path(tempfile.mkdtemp()), b"5678", shards=2)
_FILES = {name: (_WHOLE / name).read_bytes() for name in (SHARD, INDEX, "config.json")}
shutil.rmtree(_WHOLE)


@pytest.mark.parametrize("name", _FILES)
@_QUICK
@given(data=st.data())
def test_damaged_bytes(name: str, data: st.DataObject) -> None:
    with _checkpoint() as folder:
        (folder / name).write_bytes(data.draw(damaged(_FILES[name])))
        _refused_at_most(lambda: fingerprint(folder), lambda: pin(str(folder)))
        write_checkpoint(folder.parent / "a")
        assert "a" in [one.name for one in look(folder.parent).finished]


@_QUICK
@given(TENSORS, st.binary(max_size=8))
def test_any_header(tensors: dict[str, object], rest: bytes) -> None:
    header = json.dumps(tensors).encode()
    with _checkpoint() as folder:
        (folder / SHARD).write_bytes(len(header).to_bytes(8, "little") + header + rest)
        _refused_at_most(lambda: tensor_spans(folder / SHARD), lambda: fingerprint(folder))


@_QUICK
@given(st.fixed_dictionaries({"weight_map": st.dictionaries(st.text(), st.text() | JSON)}) | JSON)
def test_any_index(index: object) -> None:
    with _checkpoint() as folder:
        (folder / INDEX).write_text(json.dumps(index))
        _refused_at_most(lambda: pin(str(folder)))


@_QUICK
@given(
    st.fixed_dictionaries(
        {"peft_type": st.just("LORA") | JSON, "base_model_name_or_path": st.text() | JSON},
        optional={"revision": JSON},
    )
)
def test_any_adapter(config: object) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = write_adapter(Path(place, "b"))
        (folder / "adapter_config.json").write_text(json.dumps(config))
        _refused_at_most(lambda: base_of(folder), lambda: fingerprint(folder))


@pytest.mark.parametrize("zipped", [False, True], ids=["old", "zipped"])
@_QUICK
@given(data=st.data())
def test_damaged_pickles(zipped: bool, data: st.DataObject) -> None:
    with _checkpoint() as folder:
        pickled(2, zipped=zipped)(folder)
        weights = folder / "pytorch_model.bin"
        weights.write_bytes(data.draw(damaged(weights.read_bytes())))
        _refused_at_most(lambda: refuse_foreign_code(weights))
