"""Wrapped answers: in the one JSON object or list of a response, read leniently, or in boxes."""

import ast
import json
import re
import warnings
from typing import Any

from bench_assets.core.reading.reasoning import strip_reasoning
from bench_assets.core.reading.rules import part

_FENCE = re.compile(r"```(?:json)?\s*\n?(.*?)```", re.DOTALL)
_BRACKET = re.compile(r"[\[{]")
_MAX_LENGTH = 50_000  # characters; longer texts are not searched for JSON
_TEXT = re.compile(r"\A\\text\s*\{([^{}]*)\}\Z")
_ANSWER_FIELD = re.compile(r"(?i)(?:final[_ ]?)?(?:answer|choice|option|prediction)|答案")

# Users need not see what Python's parser warns about a response, such as "[1and 2]".
warnings.filterwarnings("ignore", category=SyntaxWarning, module="<unknown>")


def decode_json(text: str) -> object:
    r"""Decode JSON or a Python literal, fenced or not; None for any other or a very long text.

    >>> decode_json("```json\n[1, 0,]\n```"), decode_json("{'right': 1}"), decode_json("1 or 2")
    ([1, 0], {'right': 1}, None)
    """
    fence = _FENCE.fullmatch(text.strip())
    text = (fence[1] if fence else text).strip()
    if len(text) > _MAX_LENGTH:
        return None
    for parse in (_parse_json, ast.literal_eval):
        try:
            return parse(text)
        except KeyError:
            return None  # two values of one name, of which Python would take the last
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
    return None


def read_json(response: str) -> dict[str, Any] | list[Any] | None:
    """Read the one object or list of a response; None if there is none, or several.

    >>> read_json('Sure: {"right": true} That is it.'), read_json('{"a": 1} {"a": 2}')
    ({'right': True}, None)
    """
    text = strip_reasoning(response)
    opening = _BRACKET.search(text)
    end = max(text.rfind("]"), text.rfind("}")) + 1
    value = decode_json(text[opening.start() : end]) if opening else None
    return value if isinstance(value, dict | list) else None


def boxed_texts(text: str) -> list[str]:
    r"""Content of each box, without the \text around it.

    >>> boxed_texts(r"\boxed{\frac{1}{2}}，\boxed{\text{氧}}")
    ['\\frac{1}{2}', '氧']
    """
    return [_TEXT.sub(r"\1", box["answer"].strip()) for box in part("box").finditer(text)]


def unwrap_answer(text: str) -> str:
    r"""The answer in JSON, or in boxes; without either, the text as it is.

    >>> unwrap_answer('{"reason": "It is round.", "answer": "a cup"}'), unwrap_answer('["a", "b"]')
    ('a cup', 'a,b')
    >>> unwrap_answer(r"So \boxed{a cup}."), unwrap_answer("A cup.")
    ('a cup', 'A cup.')
    """
    value = read_json(text) if "{" in text or "[" in text else None
    if isinstance(value, dict):
        fields = (field for name, field in value.items() if _ANSWER_FIELD.fullmatch(name))
        value = next(fields, None)
    entries = value if isinstance(value, list) else [value]
    texts = [entry for entry in entries if isinstance(entry, str)]
    return ",".join(texts) or ", ".join(boxed_texts(text)) or text


def _parse_json(text: str) -> object:
    return json.loads(text, strict=False, object_pairs_hook=_reject_duplicate_names)


def _reject_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; KeyError if it has two values of one name."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise KeyError
    return fields
