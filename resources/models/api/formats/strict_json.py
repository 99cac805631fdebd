"""JSON that every reader reads alike."""

import json

import orjson

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def parsed(data: bytes) -> object:
    """Parse JSON in UTF-8 in which no object tells a field twice.

    A mark of byte order in front is let pass. Half a character, a number that is none and what
    follows the end are refused, as the standard wants it.

    >>> parsed(b'{"a": 1, "b": [true, null]}')
    {'a': 1, 'b': [True, None]}

    Raises:
        ValueError: If it is no JSON, nested too deeply, or says two different things under one
            name, of which every reader would take another.
    """
    if data.startswith(_BYTE_ORDER_MARK):
        data = data[len(_BYTE_ORDER_MARK) :]
    received = orjson.loads(data)
    try:
        written = orjson.dumps(received)
    except orjson.JSONEncodeError as why:
        raise ValueError(f"nested too deeply: {why}") from why
    # A field that was told twice is gone, and its quotation marks with it. Only one that is escaped
    # as a number is no mark in what came, and one in what is written again.
    if data.count(b'"') != written.count(b'"') or (b"\\" in data and b"\\u0022" in data):
        json.loads(data.decode(), object_pairs_hook=_told_once, parse_int=float)
    return received


def _told_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    told: dict[str, object] = {}
    for name, value in pairs:
        if told.setdefault(name, value) != value:
            raise ValueError("one field says two different things")
    return told
