"""Replies made plain before an answer is read out of them: no markup, one form for one thing."""

import re
import unicodedata
from collections.abc import Callable
from typing import TypeAlias

_Rewrite: TypeAlias = str | Callable[[re.Match[str]], str]

_ORDINALS = dict(zip("1234", ("first", "second", "third", "fourth"), strict=True))
_ORDINALS |= dict(zip("一二三四", _ORDINALS.values(), strict=True))
_NEXT = r"(?=(?:,| or| and| nor)(?: the)? (?:second|third|fourth) )"


def plain(reply: str) -> str:
    r"""Take off markup, special tokens and full-width forms; write letters and ordinals one way.

    >>> plain("<s> **Answer:** [B]"), plain("\\boxed{\\text{C}}"), plain("选第二张图")
    ('Answer: (B)', 'the answer is: C', '选the second image')
    """
    text = unicodedata.normalize("NFKC", reply)
    for pattern, instead in _REWRITES:
        text = pattern.sub(instead, text)
    return text.strip()


def bare(text: str) -> str:
    """Take off what may stand around an option's text: its article, stops, quotation marks, case.

    >>> bare("The second image.") == bare("second image")
    True
    """
    return re.sub(r"^(?:the|an)\s+", "", text.strip(" \t\n.,;:!?。，\"'“”‘’").casefold())


def sentences(text: str) -> list[str]:
    r"""Split at full stops and line ends; what a colon announces belongs to its sentence.

    >>> sentences("It is clear.\nThe answer is:\n(B) left")
    ['It is clear.', 'The answer is: (B) left']
    """
    joined = re.sub(r":\s*\n\s*", ": ", text)
    parts = re.split(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+", joined)
    return [part for part in parts if part] or [""]


def denies(sentence: str) -> bool:
    """Whether a sentence denies something, so that what it names may not be what is meant.

    >>> denies("It is not (A)."), denies("It is (A).")
    (True, False)
    """
    return _NEGATES.search(sentence) is not None


def is_sure(sentence: str) -> bool:
    """Whether a sentence neither denies nor hedges.

    >>> is_sure("It might be (A)."), is_sure("If I had to choose one, (A).")
    (False, True)
    """
    return not denies(sentence) and _HEDGES.search(sentence) is None


def refuses(text: str) -> bool:
    """Whether a reply says that it cannot answer.

    >>> refuses("It is not possible to determine which one fits."), refuses("It is not (A).")
    (True, False)
    """
    return _REFUSES.search(text) is not None


def concludes(sentence: str) -> bool:
    """Whether a sentence draws a conclusion.

    >>> concludes("Therefore, it is (A)."), concludes("It is so far (A).")
    (True, False)
    """
    return _CONCLUDES.search(sentence) is not None


def _image(found: re.Match[str]) -> str:
    return f"{'the ' if found[0][0] == '第' else ''}{_ORDINALS[found[1]]} image"


def _bracketed(found: re.Match[str]) -> str:
    return re.sub(r"\b[A-H]\b", r"(\g<0>)", found[0])


_REWRITES: tuple[tuple[re.Pattern[str], _Rewrite], ...] = tuple(
    (re.compile(pattern, re.DOTALL), instead)
    for pattern, instead in (
        (r"<\|[^|>]*\|>|</?s>|[*`#$]|__", ""),
        (r"\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}", r"\1"),
        (r"\\boxed\s*\{([^{}]*)\}|<answer>(.{0,200}?)</answer>", r" the answer is: \1\2"),
        (r"[\"“”']([A-H])[.,]?[\"“”']", r"(\1)"),
        (r"[\[{【]\s*([A-Ha-h])\s*[\]}】]", r"(\1)"),
        (r"\(\s*(?:option\s+)?([A-Ha-h])\s*\)", r"(\1)"),
        (r"\b[A-H](?:, ?[A-H]){0,7},? (?:and|or|nor) [A-H]\b", _bracketed),
        (r"第\s*([一二三四1-4])\s*(?:张|幅|个)?(?:图片|图像|照片|图)", _image),
        (r"\b(?:[Ii]mage|[Pp]icture|[Pp]hoto)\s*(?:[Nn]o\.?\s*|#)?([1-4])\b", _image),
        (r"\b([1-4])(?:st|nd|rd|th)\b", lambda found: _ORDINALS[found[1]]),
        (rf"\b(first|second|third){_NEXT}", r"\1 image"),
        (r"\b(first|second|third|fourth)\s+(?:picture|photo(?:graph)?|painting)\b", r"\1 image"),
    )
)

_CONCLUDES = re.compile(
    r"(?:^|(?<=[.!?;,]))\s*(?:and\s+)?(?:therefore|thus|hence|consequently|so|in conclusion|overall"
    r"|in summary|based on|considering|given|(?:however,\s+)?if \w+ (?:must|had to|have to))\b"
    r"|因此|所以|综上|总之",
    re.IGNORECASE,
)
_NEGATES = re.compile(
    r"\b(?:not|no|never|neither|nor|cannot|unlike|rather|instead|except|without|incorrect|wrong"
    r"|unable|difficult|exclud\w+|eliminat\w+|rul\w+ out)\b|n['’]t\b|不|没|非|排除|无法",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:could|might|may|possibl[ey]|either|whether|if(?! \w+ (?:must|ha)))\b|可能|如果", re.I
)
_REFUSES = re.compile(
    r"\bnot possible to\b|\b(?:cannot|can['’]t|unable to)\s+(?:\w+ly\s+)?"
    r"(?:determine|see|view|help|assist|answer|provide|choose|select|identify|make)\b|无法",
    re.IGNORECASE,
)
