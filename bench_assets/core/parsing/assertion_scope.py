"""Assertion scope: whether a statement is denied, asked, conditional or quoted.

"I don't think the answer is (B)." holds the words of a statement and states nothing; so do "Is the
answer (B)?", "If it is red, the answer is (B)." and "They said the answer is (B)."
"""

import re

from bench_assets.core.parsing.normalization import (
    NO_DOUBT,
    asks_for_input,
    denies,
    hedges,
    split_at_ends,
    supposes,
)

_NEAR = 300  # characters before and after a statement that are looked at

_CONCLUDED = re.compile(
    r"\b(?:so|therefore|thus|hence|but|however)\b|所以|因此|但|故", re.IGNORECASE
)
_NEW_CLAUSE = re.compile(r"[,;:，；：]|\b(?:and|then|yet)\b", re.IGNORECASE)
_REASON = re.compile(r"\s*(?:since|because|as|given|although|though|while|when)\b", re.IGNORECASE)
_OTHERS = re.compile(r"(?:\([A-H]\), *(?:and |or )?){1,8}$")
_NOT_SO = re.compile(
    r"\b(?:not|never|cannot|none|neither|nor|nobody|false|wrong|incorrect|unable|doubt|refuse"
    r"|no (?:one|way|evidence|reason))\b|\bno(?: \w+)?\s*$|n['’]t\b|[不没非错别勿]|无法|拒绝",
    re.IGNORECASE,
)
_NOT_FIRM = re.compile(
    r"\b(?:could|may|might|whether|suppose|assume|imagine|claim(?:s|ed)?|argues?)\b"
    r"|(?<!only )(?<!most )(?<!more )(?<!best )\b(?:common|possible|plausible|typical)\s*$"
    r"|(?<!最)(?<!最有)可能|有人",
    re.IGNORECASE,
)
_SAID = re.compile(r"\b(?:says?|said|thinks?|believes?)\b", re.IGNORECASE)
_BY_US = re.compile(r"\b(?:I|we)\b", re.IGNORECASE)
_UNREAL = re.compile(r"^\W*(?:were|had|should|otherwise)\b|\bat first\b", re.IGNORECASE)
_IF = re.compile(r"\W*(?:(?:but )?only )?(?:if|unless|如果)", re.IGNORECASE)
_GROUNDS = re.compile(r"\b(?:because|since|as (?:it|the)|which)\b", re.IGNORECASE)
_ASKED = re.compile(r"\?[^\w?]*$|吗")


def is_meant(text: str, start: int, end: int) -> bool:
    """Whether the sentence around a statement leaves it standing.

    Args:
        text: As ``response_text.with_letters`` leaves it.
        start: Where the statement begins.
        end: Where it ends, with what it states.

    >>> is_meant("It is not (A), so the answer is (B).", 20, 37)
    True
    >>> is_meant("I do not think that the answer is (B).", 20, 37)
    False
    """
    before = split_at_ends(text[max(0, start - _NEAR) : start])[-1]
    after = split_at_ends(text[end : end + _NEAR])[0]
    conditional = _IF.match(after) and supposes(after)
    if conditional or _ASKED.search(text[start:end] + after) or asks_for_input(before):
        return False
    said = _CONCLUDED.split(before)[-1]
    if supposes(said) or _UNREAL.search(said):
        return False
    clause = NO_DOUBT.sub("", _NEW_CLAUSE.split(_OTHERS.sub("", said))[-1])
    if _SAID.search(clause) and not _BY_US.search(clause):
        return False
    return bool(_REASON.match(clause)) or not (_NOT_SO.search(clause) or _NOT_FIRM.search(clause))


def commits(sentence: str) -> bool:
    """Whether a sentence neither denies, supposes, hedges nor asks.

    >>> commits("It is (A)."), commits("It is (A)?")
    (True, False)
    """
    return holds(sentence) and not hedges(sentence)


def holds(sentence: str) -> bool:
    """Whether a sentence neither denies, supposes nor asks, for an image either; it may hedge.

    >>> holds("It might be (A)."), holds("If it is red, it is (A).")
    (True, False)
    """
    said = _GROUNDS.split(sentence)[0]  # "as it would be so if it were red" sets no condition
    asks = _ASKED.search(sentence) or asks_for_input(sentence)
    return not (denies(sentence) or supposes(said) or asks)
