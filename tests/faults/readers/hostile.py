"""Hostile inputs, as hypothesis draws them: well-formed ones with a few edits, which shrink."""

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from tests.faults.readers.reader import Reader

_DIGITS = "9" * 4301  # one more than int() reads
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 2**31, 2**63, 2**70, -(2**70), 10**400, 1e308),
    *(float("nan"), float("inf"), "", " ", "0", "-1", "12", "²", "٣", _DIGITS, "nan", "1e999"),
    *("\0", "\ud800", "\ufeff", "\u202e", "a\nb", "../x", "/etc/passwd", "x" * 300, "(A)", "<b>x"),
    *([], {}, [[]], [None], [[1, 2]], {"": None}, {"a": {"b": []}}, [{}], ["A", "B"], [0]),
)
"""What stands where something else should."""
WORDS: tuple[str, ...] = (
    *("A", "B", "(A)", "**B**", "A)", "Answer:", "answer is", "not", "or", "yes", "No.", "right"),
    *("wrong", "1.", "[1]", "[0]", "1", "0", "12,345.6", "one hundred", "½", "二十", "²", "-", "%"),
    *("<think>", "</think>", "\\boxed{", "}", "{", "[", "]", "```json", '"', "'", "\\", "\n"),
    *("\t", "\r\n", "\0", "\ud800", "\u202e", "\x1b[2J", "，", "。", "$", "$$", "<table>", "<td>"),
    *("<img src=x>", "&#0;", "&amp;", "image", "Image 1", "the", "none of the above", "sorry"),
)


def inputs(reader: Reader) -> SearchStrategy[bytes]:
    """What a reader is given."""
    make: dict[str, Callable[[Reader], SearchStrategy[bytes]]] = {
        "text": _texts,
        "json": lambda of: st.one_of(_documents(of).map(_dumped), _damaged(of)),
        "lines": lambda of: st.one_of(
            st.lists(_documents(of), max_size=3).map(lambda many: b"\n".join(map(_dumped, many))),
            _damaged(of),
        ),
        "bytes": _damaged,
    }
    return make[reader.kind](reader)


def _texts(reader: Reader) -> SearchStrategy[bytes]:
    seeds = [seed.decode() for seed in reader.seeds]
    word = st.sampled_from([*WORDS, *reader.words, *reader.words, *seeds, _DIGITS])
    piece = st.one_of(word, word, st.text(max_size=6))
    return st.lists(piece, max_size=12).flatmap(
        lambda pieces: st.sampled_from(["", " ", "\n"]).map(lambda between: between.join(pieces))
    ).map(lambda text: text.encode("utf-8", "surrogatepass"))  # fmt: skip


def _documents(reader: Reader) -> SearchStrategy[Any]:
    edit = st.tuples(st.integers(0, 999), st.integers(0, len(VALUES) + 2))
    return st.builds(_edited, st.sampled_from(reader.seeds), st.lists(edit, min_size=1, max_size=3))


def _damaged(reader: Reader) -> SearchStrategy[bytes]:
    some = st.one_of(
        st.just(b""), st.binary(max_size=4), st.sampled_from(
            [b"\0", b"\xff", b"9" * 4301, b"[" * 2000, b'{"a":' * 2000, b"\n", b'"', b"-1", b"e999"]
        )
    )  # fmt: skip
    edit = st.tuples(st.integers(0, 2**16), st.integers(0, 9), some)
    return st.builds(
        _patched, st.sampled_from(reader.seeds), st.lists(edit, min_size=1, max_size=4)
    )


def _edited(seed: bytes, edits: list[tuple[int, int]]) -> Any:
    """Put another value at places of a document, or take them away, or put them there twice."""
    whole = {"": json.loads(seed)}
    for at, what in edits:
        places = list(_places(whole))
        holder, key = places[at % len(places)]
        if what < len(VALUES):
            holder[key] = deepcopy(VALUES[what])  # a later edit may go into it
        elif what == len(VALUES) and isinstance(holder, list):
            holder.insert(key, deepcopy(holder[key]))
        elif what == len(VALUES) + 1 and isinstance(holder, dict):
            holder[f"{key} "] = deepcopy(holder[key])
        elif holder is not whole:
            del holder[key]
    return whole[""]


def _places(value: Any) -> Any:
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _dumped(value: Any) -> bytes:
    return json.dumps(value).encode()


def _patched(seed: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    data = bytearray(seed)
    for at, length, some in edits:
        start = at % (len(data) + 1)
        data[start : start + length] = some
    return bytes(data)
