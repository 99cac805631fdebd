"""Normalization of responses before parsing: no markup, and one form for each notation."""

import re
import unicodedata
from collections.abc import Callable
from typing import TypeAlias

_Rewrite: TypeAlias = str | Callable[[re.Match[str]], str]

_ORDINALS = dict(zip("1234", ("first", "second", "third", "fourth"), strict=True))
_ORDINALS |= dict(zip("一二三四", _ORDINALS.values(), strict=True))
_CHINESE_DIGITS = dict(zip("一二两三四五六七八九", "1223456789", strict=True))
_NEXT = r"(?=(?:,| or| and| nor)(?: the)? (?:second|third|fourth) )"


def _image(found: re.Match[str]) -> str:
    nth = next(filter(None, found.groups()))
    return f"{'' if found[0].isascii() else 'the '}{_ORDINALS[nth]} image"


def _unbox_answer(found: re.Match[str]) -> str:
    """Rewrite a box's content as an answer, separate from the rest of its line."""
    content = _SINGLE_LETTER.sub(_bracketed_letter, found[1] or found[2] or "")
    goes_on = _CONTINUATION.match(found.string, found.end()) and not content[-1:].isdecimal()
    return f" the answer is: {content}{'. ' if goes_on else ''}"


def _bracketed_letter(found: re.Match[str]) -> str:
    return f"({found[1].upper()})"


def _normalize_characters(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", found[0])


def _compile_rewrites(
    *rewrites: tuple[str, _Rewrite],
) -> tuple[tuple[re.Pattern[str], _Rewrite], ...]:
    return tuple((re.compile(pattern, re.DOTALL), instead) for pattern, instead in rewrites)


_CHARACTER_VARIANTS = str.maketrans(
    "選項錯誤確應該對題無為與擇✓✔✅☑✗✘❌❎✖✕", "选项错误确应该对题无为与择√√√√××××××", "\ufe0f"
)
_SQUARED = {0x1F170 + place: f"({letter})" for place, letter in enumerate("ABCDEFGHIJKLM")}
_UNCIRCLED = re.compile("[^①-⑳]+")  # numbers in circles name statements, not quantities
_CHECKED_BOX, _EMPTY_BOX = re.compile(r"\[[xX]\]"), re.compile(r"\[ ?\]")
_SINGLE_LETTER = re.compile(r"^\s*\(?([A-Ha-h])\)?\.?\s*$")
_CONTINUATION = re.compile(r"\s{0,9}[\w<\\]")
REWRITES = _compile_rewrites(
    (r"\*\*(?:[Oo]ption )?\(?([A-M])\)?\*\*", r"(\1)"),
    (r"~~[^~\n]{1,80}~~|<\|[^|>]*\|>|</?s>|[*`#$]|__", ""),
    (r"(?m:^[ \t]{0,9}\|[ \t|:-]++$)", ""),
    (r"(?:^|\n)Q: [^\n]{0,500}\?[ \t]{0,9}\n{1,2}A:", "\nAnswer:"),
    (r" ?\\(?:text(?:bf|it|rm)?|math(?:rm|bf))\s*\{ ?([^{}]*)\}", r" \1"),
    (
        r"\\boxed\s*\{([^{}]*)\}|<(?:answer|verdict|choice|final|result)>(.{0,200}?)"
        r"</(?:answer|verdict|choice|final|result)>",
        _unbox_answer,
    ),
    (r" ?\\[,;:!] ?|\\[()\[\]]", " "),  # between a number and its unit; around a formula
    (r"\\(?:[Rr]ightarrow|implies|to)(?![A-Za-z])", "⇒"),
    (r"\\pi(?![A-Za-z])", "π"),
    (r"(?<![\w/])[Nn]/[Aa](?![\w/])", "not applicable"),
    (r"(?<![\w.])(?:[A-Z]\.){2,}+(?!\w)", lambda found: f"{found[0].replace('.', '')}."),
    (r"第\s*([一二三四1-4])\s*(?:张|幅|个)?(?:图片|图像|照片|图)", _image),
    (r"第\s*([一二三四1-4])\s*[张幅]|图\s*([1-4])", _image),
    (r"\b(?:[Ii]mage|[Pp]icture|[Pp]hoto)\s*(?:[Nn]o\.?\s*)?([1-4])\b", _image),
    (r"\b([1-4])(?:st|nd|rd|th)\b", lambda found: _ORDINALS[found[1]]),
    (rf"\b(first|second|third){_NEXT}", r"\1 image"),
    (r"\b(first|second|third|fourth)\s+(?:picture|photo(?:graph)?|painting)\b", r"\1 image"),
)
CHINESE_REWRITES = _compile_rewrites(
    (r"[向往朝]?左(?:边|侧|方|移动|转)?(?!上|下|角)", " left "),
    (r"[向往朝]?右(?:边|侧|方|移动|转)?(?!上|下|角)", " right "),
    (r"^(?:是的?|有)(?=\W|$)", "yes"),
    (r"^(?:不是?的?|否|没有)(?=\W|$)", "no"),
    (r"(?:更|较|最)?(?:靠近|接近|近)", " closer "),
    (r"(?:更|较|最)(?:暗|深|黑)", " darker "),
    (r"(?:大致)?(?:相同|一样)|差不多", " about the same "),
    (
        r"(?<!第)([一二两三四五六七八九])(?=[个只条头匹辆位名]|\W*$)",
        lambda found: f"{_CHINESE_DIGITS[found[1]]} ",
    ),
)


def normalize_response(response: str) -> str:
    r"""Remove markup, special tokens and full-width forms; unify letters and ordinals.

    >>> (
    ...     normalize_response("<s> **Answer:** [B]"),
    ...     normalize_response("\\boxed{\\text{C}}"),
    ...     normalize_response("选第二张图"),
    ... )
    ('Answer: [B]', 'the answer is: (C)', '选the second image')
    """
    text = _UNCIRCLED.sub(_normalize_characters, response.translate(_SQUARED)).translate(
        _CHARACTER_VARIANTS
    )
    if _CHECKED_BOX.search(text):
        text = _EMPTY_BOX.sub("×", _CHECKED_BOX.sub("√", text))
    for pattern, instead in REWRITES:
        text = pattern.sub(instead, text)
    return text.strip()


def normalize_option(text: str) -> str:
    """Reduce an option's text: without article, surrounding punctuation and case.

    >>> normalize_option("The second image.") == normalize_option("second image")
    True
    """
    text = text.translate(_CHARACTER_VARIANTS).strip(" \t\n.,;:!?。，\"'“”‘’")
    return _ARTICLE.sub("", text.casefold())


def translate_chinese(text: str) -> str:
    """Translate the words of a Chinese response that occur in English options."""
    for pattern, instead in CHINESE_REWRITES:
        text = pattern.sub(instead, text)
    return text


_ARTICLE = re.compile(r"^(?:the|an)\s+")
