"""Data as scripts, since a page opened from disk can load nothing else; slugs for file names."""

import re
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from hashlib import sha256
from typing import Any

import orjson

_NAME = re.compile(r"[a-z0-9-]+")
_FORMS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY


def data_script(name: str, value: object) -> bytes:
    r"""Serialise a value as a script: ``Bench.put("name", ...)``.

    Rows may be dataclasses, columns of numbers arrays. NaN and infinity become null. Texts are
    escaped so that they cannot end a script element.

    >>> data_script("a-b", ["</script>", float("nan")])
    b'Bench.put("a-b",["\\u003c/script>",null]);\n'
    """
    assert _NAME.fullmatch(name), name
    try:
        written = orjson.dumps(value, option=_FORMS)
    except TypeError:  # a lone surrogate, such as from a folder name that is not UTF-8
        written = orjson.dumps(_whole(value), option=_FORMS)
    return b'Bench.put("%s",%s);\n' % (name.encode(), written.replace(b"<", b"\\u003c"))


def _whole(value: Any) -> Any:  # noqa: ANN401
    """Replace invalid characters in all texts of a value."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {_whole(name): _whole(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _whole(asdict(value))
    return value


_UNFIT = re.compile(r"[^a-z0-9]+")
_LETTERS = 40
_DIGITS = 8


def slug(name: str) -> str:
    """Convert a name to a file name that is safe on any system: readable, with a digest at the end.

    Slugs are short, lower-case, without dots and slashes, and never reserved names.

    >>> slug("journeybench/mcot")
    'journeybench-mcot-fa606a1c'
    """
    readable = _UNFIT.sub("-", name.lower())[:_LETTERS].strip("-")
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{readable}-{digest}" if readable else digest
