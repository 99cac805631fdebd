"""Answers that a response wraps: in a LaTeX box, or in a field of JSON."""

import re

from bench_assets.core.reading.json_values import read_json
from bench_assets.core.reading.rules import part

_TEXT = re.compile(r"\A\\text\s*\{([^{}]*)\}\Z")
_ANSWER_FIELD = re.compile(
    r"(?:final[_ ]?)?(?:answer|choice|option|prediction)|答案", re.IGNORECASE
)


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
        value = next(
            (field for name, field in value.items() if _ANSWER_FIELD.fullmatch(name)), None
        )
    listed = value if isinstance(value, list) else [value]
    texts = [entry for entry in listed if isinstance(entry, str)]
    return ",".join(texts) or ", ".join(boxed_texts(text)) or text
