"""JSON in responses: the one object or list, fenced or not, read leniently in its syntax."""

import ast
import json
import re
import warnings
from typing import Any

from bench_assets.core.reading.reasoning import strip_reasoning

_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)
_BRACKET = re.compile(r"[\[{]")
_MAX_LENGTH = 50_000  # characters; longer texts are not searched for JSON

# What Python's parser says of a response ("[1and 2]") is no message for users.
warnings.filterwarnings("ignore", category=SyntaxWarning, module="<unknown>")


def decode_json(text: str) -> object:
    r"""Decode a text that is JSON, fenced or not; None if it is anything else.

    >>> decode_json("```json\n[1, 0,]\n```"), decode_json("{'right': 1}"), decode_json("1 or 2")
    ([1, 0], {'right': 1}, None)
    """
    fence = _FENCE.fullmatch(text.strip())
    text = (fence[1] if fence else text).strip()
    if len(text) > _MAX_LENGTH:
        return None
    for parse in (_strict, ast.literal_eval):
        try:
            value: object = parse(text)
        except KeyError:
            return None  # of two values of a name, Python would take the last
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        return value
    return None


def read_json(response: str) -> dict[str, Any] | list[Any] | None:
    """Read the one object or list of a response; None if there is none, or several.

    >>> read_json('Sure: {"right": true} That is it.'), read_json('{"a": 1} {"a": 2}')
    ({'right': True}, None)
    """
    text = strip_reasoning(response)
    start = _BRACKET.search(text)
    end = max(text.rfind("]"), text.rfind("}")) + 1
    value = decode_json(text[start.start() : end]) if start else None
    return value if isinstance(value, dict | list) else None


def _strict(text: str) -> object:
    return json.loads(text, strict=False, object_pairs_hook=_reject_duplicate_names)


def _reject_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; KeyError if it has two values of one name."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise KeyError
    return fields
