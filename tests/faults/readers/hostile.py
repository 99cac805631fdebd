import json
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
"""Values that replace those of a document."""
WORDS: tuple[str, ...] = (
    *("A", "B", "(A)", "**B**", "A)", "Answer:", "answer is", "not", "or", "yes", "No.", "right"),
    *("wrong", "1.", "[1]", "[0]", "1", "0", "12,345.6", "one hundred", "½", "二十", "²", "-", "%"),
    *("<think>", "</think>", "\\boxed{", "}", "{", "[", "]", "```json", '"', "'", "\\", "\n"),
    *("\t", "\r\n", "\0", "\ud800", "\u202e", "\x1b[2J", "，", "。", "$", "$$", "<table>", "<td>"),
    *("<img src=x>", "&#0;", "&amp;", "image", "Image 1", "the", "none of the above", "sorry"),
)


def inputs(reader: Reader) -> SearchStrategy[bytes]:
    """Inputs of the kind that a reader takes."""
    if reader.kind == "text":
        return _texts(reader)
    if reader.kind == "json":
        return st.one_of(_documents(reader).map(_dump), _damaged(reader))
    if reader.kind == "lines":
        return st.one_of(
            st.lists(_documents(reader), max_size=3).map(_dump_lines), _damaged(reader)
        )
    return _damaged(reader)


def _texts(reader: Reader) -> SearchStrategy[bytes]:
    seeds = [seed.decode() for seed in reader.seeds]
    word = st.sampled_from([*WORDS, *reader.words, *reader.words, *seeds, _DIGITS])
    words = st.lists(st.one_of(word, word, st.text(max_size=6)), max_size=12)
    separator = st.sampled_from(["", " ", "\n"])
    return st.builds(_join, words, separator)


def _join(words: list[str], separator: str) -> bytes:
    return separator.join(words).encode("utf-8", "surrogatepass")


def _documents(reader: Reader) -> SearchStrategy[Any]:
    edit = st.tuples(st.integers(0, 999), st.integers(0, len(VALUES) + 2))
    return st.builds(_edit, st.sampled_from(reader.seeds), st.lists(edit, min_size=1, max_size=3))


def _damaged(reader: Reader) -> SearchStrategy[bytes]:
    replacement = st.one_of(
        st.just(b""), st.binary(max_size=4), st.sampled_from(
            [b"\0", b"\xff", b"9" * 4301, b"[" * 2000, b'{"a":' * 2000, b"\n", b'"', b"-1", b"e999"]
        )
    )  # fmt: skip
    edit = st.tuples(st.integers(0, 2**16), st.integers(0, 9), replacement)
    return st.builds(
        _overwrite, st.sampled_from(reader.seeds), st.lists(edit, min_size=1, max_size=4)
    )


def _edit(seed: bytes, edits: list[tuple[int, int]]) -> Any:
    """Replace, repeat or delete values of a document, each by the index of its place."""
    root = {"": json.loads(seed)}
    for place_index, edit_index in edits:
        places = list(_places(root))
        container, key = places[place_index % len(places)]
        if edit_index < len(VALUES):
            container[key] = deepcopy(VALUES[edit_index])  # a later edit may change it
        elif edit_index == len(VALUES) and isinstance(container, list):
            container.insert(key, deepcopy(container[key]))
        elif edit_index == len(VALUES) + 1 and isinstance(container, dict):
            container[f"{key} "] = deepcopy(container[key])
        elif container is not root:
            del container[key]
    return root[""]


def _places(container: Any) -> Any:
    """Every place of a value: a list or dict within a container, and the index or key in it."""
    keys = container.keys() if isinstance(container, dict) else range(len(container))
    for key in list(keys):
        yield container, key
        if isinstance(container[key], dict | list):
            yield from _places(container[key])


def _dump(value: Any) -> bytes:
    return json.dumps(value).encode()


def _dump_lines(values: list[Any]) -> bytes:
    return b"\n".join(map(_dump, values))


def _overwrite(seed: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Replace spans of bytes, each given by its position and length."""
    data = bytearray(seed)
    for position, length, replacement in edits:
        start = position % (len(data) + 1)
        data[start : start + length] = replacement
    return bytes(data)
