"""Answers in a LaTeX box or in JSON."""

import ast
import json
import re

_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{((?:[^{}]++|\{(?:[^{}]++|\{[^{}]*+\})*+\})*+)\}")
_TEXT = re.compile(r"^\\text\s*\{([^{}]*)\}$")
_ANSWER_KEY = re.compile(  # names of a field that holds the answer
    r"(?:(?:final|correct|chosen|selected|predicted|my|the|best|answer|choice|option|letter|label"
    r"|selection|prediction|verdict|judge?ment|result|response)s?[_ -]?)+"
    r"|(?:最终|正确|所选)*(?:答案|选项|选择|结论|判断|结果|判定|评判|判定结果|评判结果|判断结果)"
)
_BRACKET_SPAN = re.compile(r"[\[{]([^{}]*+)(\}?)")
_ALTERNATIVE_WORDS = ("或", "or", "/")
_BOX_SEPARATOR = r"(?:[\s,，、;$和与及或/]|and|or)*"  # between boxes that belong together
_MAX_JSON_LENGTH = 10_000  # characters; longer texts are not parsed as JSON


def boxed_texts(text: str) -> list[str]:
    r"""Content of each box, without the \text around it.

    >>> boxed_texts(r"\boxed{\frac{1}{2}}，\boxed{\text{氧}}")
    ['\\frac{1}{2}', '氧']
    """
    return [_TEXT.sub(r"\1", box[1].strip()) for box in _BOX.finditer(text)]


def last_boxed_answer(text: str) -> str:
    r"""Content of the last boxes; adjacent boxes belong together.

    >>> last_boxed_answer(r"若 \boxed{A}，则得 \boxed{B}, \boxed{C}")
    'B,C'
    """
    boxes = list(_BOX.finditer(text))
    parts: list[str] = []
    for box, following in zip(boxes[::-1], [None, *boxes[::-1]], strict=False):
        if following and not re.fullmatch(_BOX_SEPARATOR, text[box.end() : following.start()]):
            break
        between = text[box.end() : following.start()].strip(" $") if following else ""
        parts[:0] = [box[1].strip(), "或" if between in _ALTERNATIVE_WORDS else ","]
    return "".join(parts[:-1])


def json_answer(text: str) -> str | None:
    """Answer of a JSON response, fenced or not; "" if it has none, None if it is not JSON.

    The answer of an object of letters and booleans is the letters that are true.
    """
    last = _last_object(text)
    value = _parsed(last) if last else None
    if last and not isinstance(value, list) and (answer := _answer_field(_parsed(_outer(text)))):
        return answer
    if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
        return ",".join(value)
    if not isinstance(value, dict):
        return None
    holds = {
        str(name): is_chosen for name, is_chosen in value.items() if isinstance(is_chosen, bool)
    }
    if len(holds) == 1 and (answer := _truth(*holds.popitem())):
        return answer
    if holds and len(holds) == len(value):
        return ",".join(letter for letter, is_chosen in holds.items() if is_chosen)
    return _answer_field(value)


def _truth(name: str, holds: bool) -> str:
    """Boolean field as text: "true" under an answer key, else its name; "not ..." if false."""
    if len(name) == 1:
        return ""
    words = (
        "true"
        if _ANSWER_KEY.fullmatch(name.casefold())
        else name.replace("_", " ").removeprefix("is ")
    )
    return words if holds else f"not {words}"


def _answer_field(value: object) -> str:
    """The text under the first answer key; a list of texts is joined by commas."""
    fields = value if isinstance(value, dict) else {}
    answers = [field for key, field in fields.items() if _ANSWER_KEY.fullmatch(str(key).casefold())]
    answer = next((answer for answer in answers if isinstance(answer, str | list)), None)
    listed = answer if isinstance(answer, list) else [answer]
    return ",".join(answer for answer in listed if isinstance(answer, str))


def _outer(text: str) -> str:
    """The text from the first to the last brace; "" if it is too long."""
    outer = text[text.find("{") : text.rfind("}") + 1]
    return outer if len(outer) <= _MAX_JSON_LENGTH else ""


def _last_object(text: str) -> str:
    """The last object in braces or list in brackets; "" if there is none, or it is too long."""
    last = ""
    for match in _BRACKET_SPAN.finditer(text):
        end = match.end() if match[2] else text.rfind("]", match.start(), match.end()) + 1
        last = text[match.start() : end] or last
    return last if len(last) <= _MAX_JSON_LENGTH else ""


def _parsed(text: str) -> object:
    for parse in (json.loads, ast.literal_eval):
        try:
            value: object = parse(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        return value
    return None
