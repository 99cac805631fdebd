"""What is rewritten in replies before an answer is read out of them (for ``reply_text``)."""

import re
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


def _announced(found: re.Match[str]) -> str:
    """Write what a box holds as an answer; what follows in its line is another sentence."""
    said = _A_LETTER.sub(_upper, found[1] or found[2] or "")
    goes_on = _GOES_ON.match(found.string, found.end()) and not said[-1:].isdecimal()
    return f" the answer is: {said}{'. ' if goes_on else ''}"


def _bracketed(found: re.Match[str]) -> str:
    return _CAPITAL.sub(r"(\g<0>)", found[0])


def _upper(found: re.Match[str]) -> str:
    return f"({found[1].upper()})"


def _compiled(*rewrites: tuple[str, _Rewrite]) -> tuple[tuple[re.Pattern[str], _Rewrite], ...]:
    return tuple((re.compile(pattern, re.DOTALL), instead) for pattern, instead in rewrites)


_CAPITAL = re.compile(r"[A-H]")
_A_LETTER = re.compile(r"^\s*\(?([A-Ha-h])\)?\.?\s*$")
_GOES_ON = re.compile(r"\s{0,9}[\w<\\]")
REWRITES = _compiled(
    (r"<\|[^|>]*\|>|</?s>|[*`#$]|__", ""),
    (r"\\(?:text|mathrm|mathbf)\s*\{([^{}]*)\}", r"\1"),
    (r"\\boxed\s*\{([^{}]*)\}|<answer>(.{0,200}?)</answer>", _announced),
    (r"(?<![\w/])[Nn]/[Aa](?![\w/])", "not applicable"),
    (r"(?<![\w.])(?:[A-Z]\.){2,}+(?!\w)", lambda found: f"{found[0].replace('.', '')}."),
    (r"(?<!letter )[\"“”']([A-H])[.,]?[\"“”']", r"(\1)"),
    (r"[\[{【(]\s*(?:option\s+)?([A-Ha-h])\s*[\]}】)]", _upper),
    (
        r"(?<![A-Za-z])[A-H](?:(?:, ?(?:and |or )?| (?:and |or |nor )?|/|[和或、])"
        r"[A-H](?![A-Za-z'’])){1,9}",
        _bracketed,
    ),
    (r"第\s*([一二三四1-4])\s*(?:张|幅|个)?(?:图片|图像|照片|图)", _image),
    (r"第\s*([一二三四1-4])\s*[张幅]|图\s*([1-4])", _image),
    (r"\b(?:[Ii]mage|[Pp]icture|[Pp]hoto)\s*(?:[Nn]o\.?\s*)?([1-4])\b", _image),
    (r"\b([1-4])(?:st|nd|rd|th)\b", lambda found: _ORDINALS[found[1]]),
    (rf"\b(first|second|third){_NEXT}", r"\1 image"),
    (r"\b(first|second|third|fourth)\s+(?:picture|photo(?:graph)?|painting)\b", r"\1 image"),
)
LETTERS = _compiled(
    (
        r"\b(?i:option|choice|point|box|picture|image|label(?:l?ed)?):? ([A-Hb-h])(?![\w'’])",
        _upper,
    ),
    (
        r"(?:选项|点|框|图)\s*([A-H])(?![A-Za-z])|(?<![A-Za-z])([A-H])\s*(?:选项|点|框|图)",
        r"(\1\2)",
    ),
    (r"(?<![\w'’(])([A-H])(?= (?:is|was|are|appears|seems|looks|would be|has)\b)", r"(\1)"),
    (r"\b(is|be|than|so) ([A-H])(?=\s*(?:[.,;!。]|$))", r"\1 (\2)"),
    (
        r"(?<![\w'’(])\(?([A-H])\)?,? (?:(?:and|but) )?(?:not|rather than|instead of) \(?[A-H]\)?"
        r"(?:(?:, ?(?:or |nor |and )?| (?:or|nor|and) |/)\(?[A-H]\)?)*+(?! [a-z]|[\w'’])",
        r"(\1)",
    ),
    (
        r"\b[Nn]ot \(?[A-H]\)?(?:(?:, ?(?:or |nor )?| (?:or|nor) |/)\(?[A-H]\)?)*+,? but "
        r"\(?([A-H])\)?(?! [a-z]|[\w'’])",
        r"(\1)",
    ),
)
IN_ENGLISH = _compiled(
    (r"[向往朝]?左(?:边|侧|方|移动|转)?(?!上|下|角)", " left "),
    (r"[向往朝]?右(?:边|侧|方|移动|转)?(?!上|下|角)", " right "),
    (r"^(?:是的?|对的?|有)(?=\W|$)", "yes"),
    (r"^(?:不是?的?|不对|否|没有)(?=\W|$)", "no"),
    (r"(?:更|较|最)?(?:靠近|接近|近)", " closer "),
    (r"(?:更|较|最)(?:暗|深|黑)", " darker "),
    (r"(?:大致)?(?:相同|一样)|差不多", " about the same "),
    (
        r"([一二两三四五六七八九])(?=[个只条头匹辆位名]|\W*$)",
        lambda found: f"{_CHINESE_DIGITS[found[1]]} ",
    ),
)
