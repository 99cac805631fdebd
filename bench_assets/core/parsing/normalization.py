"""Responses made plain before an answer is read out of them: no markup, one form for one thing.

What is rewritten in responses before an answer is read out of them (for ``response_text``).
"""

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


def _announced(found: re.Match[str]) -> str:
    """Rewrite a box's content as an answer, separate from the rest of its line."""
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


def plain(response: str) -> str:
    r"""Remove markup, special tokens and full-width forms; unify letters and ordinals.

    >>> plain("<s> **Answer:** [B]"), plain("\\boxed{\\text{C}}"), plain("选第二张图")
    ('Answer: (B)', 'the answer is: (C)', '选the second image')
    """
    text = unicodedata.normalize("NFKC", response)
    for pattern, instead in REWRITES:
        text = pattern.sub(instead, text)
    return text.strip()


def bare(text: str) -> str:
    """Remove article, stops, quotation marks and case around an option's text.

    >>> bare("The second image.") == bare("second image")
    True
    """
    return _ARTICLE.sub("", text.strip(" \t\n.,;:!?。，\"'“”‘’").casefold())


def sentences(text: str) -> list[str]:
    r"""Split at full stops and line ends; text after a colon belongs to its sentence.

    >>> sentences("It is clear.\nThe answer is:\n(B) left")
    ['It is clear.', 'The answer is: (B) left']
    """
    return [part for part in split_at_ends(text) if part] or [""]


def split_at_ends(text: str) -> list[str]:
    """Split as ``sentences`` does; "" where nothing stands before the first end or after the last.

    >>> split_at_ends("It is clear. ")
    ['It is clear.', '']
    """
    return _SENTENCE_END.split(re.sub(r":\s*\n\s*", ": ", text))


def denies(sentence: str) -> bool:
    """Whether a sentence is negated, so that an option in it may not be the answer.

    >>> denies("It is not (A)."), denies("It is (A).")
    (True, False)
    """
    return _NEGATES.search(NO_DOUBT.sub("", sentence)) is not None


def is_sure(sentence: str) -> bool:
    """Whether a sentence neither denies nor hedges.

    >>> is_sure("It might be (A)."), is_sure("If I had to choose one, (A).")
    (False, True)
    """
    return not (denies(sentence) or hedges(sentence) or supposes(sentence))


def hedges(sentence: str) -> bool:
    """Whether a sentence expresses a possibility.

    >>> hedges("It might be (A)."), hedges("It is (A).")
    (True, False)
    """
    return _HEDGES.search(sentence) is not None


def supposes(sentence: str) -> bool:
    """Whether a sentence sets a condition; an obligation to choose is none.

    >>> supposes("If it is red, (A)."), supposes("If I had to choose one, (A).")
    (True, False)
    """
    return _IF.search(sentence) is not None


def refuses(text: str) -> bool:
    """Whether a response is a refusal.

    >>> refuses("It is not possible to determine which one fits."), refuses("It is not (A).")
    (True, False)
    """
    return _REFUSES.search(text) is not None


def asks_for_input(text: str) -> bool:
    """Whether a text asks for the image, offers help or sees no image, instead of answering.

    >>> asks_for_input("I can help! Please send it."), asks_for_input("I can't see any dog.")
    (True, False)
    """
    return _ASKS.search(text) is not None


def after_doubts(text: str) -> str:
    """Text after the last refusal or rejection of all options; everything without one.

    >>> after_doubts("None of them fits. If I must choose, (A).")
    'If I must choose, (A).'
    """
    parts = sentences(text)
    doubts = [nth for nth, one in enumerate(parts) if refuses(one) or _NOTHING.search(one)]
    return " ".join(parts[doubts[-1] + 1 :]) if doubts else text


def breaks_off(text: str) -> bool:
    """Whether a long response ends in the middle of a sentence.

    >>> breaks_off(30 * "and " + "the"), breaks_off("the second image")
    (True, False)
    """
    return len(text.split()) > _LONG and text[-1].isalnum()


def concludes(sentence: str) -> bool:
    """Whether a sentence draws a conclusion.

    >>> concludes("Therefore, it is (A)."), concludes("It is so far (A).")
    (True, False)
    """
    return _CONCLUDES.search(sentence) is not None


def conclusion_of(sentence: str) -> str:
    """Text of a sentence from its last concluding word on; "" without one.

    >>> conclusion_of("It is not (A), so it is (B)."), conclusion_of("It is (A).")
    (' so it is (B).', '')
    """
    *_, last = [None, *_CONCLUDES.finditer(sentence)]
    return sentence[last.start() :] if last else ""


def with_letters(text: str) -> str:
    """Write what plainly names an option by its letter as that letter in brackets.

    What is set against it ("B, not A") names nothing, and is left out.

    >>> with_letters("Point B is closer than A."), with_letters("A点更近")
    ('(B) is closer than (A).', '(A) closer ')
    """
    for pattern, instead in LETTERS:
        text = pattern.sub(instead, text)
    return text if text.isascii() else _in_english(text)


def _in_english(text: str) -> str:
    for pattern, instead in IN_ENGLISH:
        text = pattern.sub(instead, text)
    return text


_ARTICLE = re.compile(r"^(?:the|an)\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？])|\n+")
_LONG = 25  # words; shorter responses seldom end with a full stop
_CONCLUDES = re.compile(
    r"(?:^|(?<=[.!?;,]))\s*(?:and\s+)?(?:therefore|thus|hence|consequently|so)\b"
    r"|(?:^|(?<=[.!?;]))\s*(?:in conclusion|overall|in summary|based on|considering|given"
    r"|(?:however,\s+)?if \w+ (?:must|had to|have to))\b|因此|所以|综上|总之",
    re.IGNORECASE,
)
_NEGATES = re.compile(
    r"\b(?:not|no|never|neither|nor|none|cannot|unlike|rather|instead|except|without|incorrect|wrong"
    r"|unable|difficult|unlikely|doubt|false|exclud\w+|eliminat\w+|rul\w+ out"
    r"|(?:all|any(?:thing)?|every(?:thing)?) (?:but|other than))\b"
    r"|n['’]t\b|[不没非错]|有误|未(?!来)|拒绝|排除|无法",
    re.IGNORECASE,
)
NO_DOUBT = re.compile(
    r"\b(?:no|without(?: a| any)?|beyond(?: a| any)?) (?:doubt|question)\b|\bnot only\b"
    r"|不难|不得不|不能不|没错|不错",
    re.IGNORECASE,
)
"""Words that deny by their letters, and not by what they mean."""
_HEDGES = re.compile(
    r"\b(?:could|might|may|maybe|perhaps|possibl[ey]|either|whether)\b|(?<!最)(?<!最有)可能|也许|或许",
    re.I,
)
_IF = re.compile(
    r"\b(?<!even )(?<!as )if\b(?! (?:forced|pressed|the question)\b"
    r"| \w+ (?:must|compare|consider|look|focus|treat|use|(?:had|have|were|are) to)\b)"
    r"|\bunless\b|如果|假如|假设|要是|若(?!干)",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:not possible|impossible|no way|not enough|unable|not able) to\b|\bcannot be \w+ed\b"
    r"|\b(?:I|we)(?: must| have to| will)? (?:refuse|decline)\b"
    r"|\b(?:cannot|can['’]t|could not)\s+(?:\w+ly\s+)?"
    r"(?:determine|see|view|tell|help|assist|answer|provide|choose|select|identify|make)\b"
    r"|\bsorry\b|无法|抱歉",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:please|(?:could|can|would) you)(?: please)? "
    r"(?:send|share|upload|provide|attach|describe|paste|show)\b"
    r"|\b(?:I|we)(?:['’](?:d|m|ll)| can| am| are| would| will)"
    r"(?: (?:be|certainly|gladly|happy|glad|like|love|here|to)){0,4} (?:help|assist)\b"
    r"|(?:\b(?:cannot|can not|could not|unable to|not able to|do not)|n['’]t) (?:\w+ly )?"
    r"(?:help|assist|(?:view|see|process|open|access|load|analy[sz]e|have(?: access to)?) "
    r"(?:(?:the|this|that|these|those|any|your|an|attached|uploaded|provided) ){0,3}"
    r"(?:image|picture|photo|file)s?)\b"
    r"|\bneed (?:to see )?(?:the|an|your) (?:image|picture|photo)s?\b|请(?:提供|上传|发送)",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:neither|none|no (?:correct|clear|definitive) (?:answer|option|choice|match))\b|都不"
    r"|\b(?:image|picture) (?:is (?:missing|not available)|failed to load)(?! \w)",
    re.IGNORECASE,
)
