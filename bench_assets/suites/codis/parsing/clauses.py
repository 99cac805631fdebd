"""Clause analysis of a line, without questions, reasons and figures of speech.

A line that hedges, refuses or leaves things open states nothing.
"""

import re
from collections.abc import Sequence

from bench_assets.core.parsing.normalization import leaves_open
from bench_assets.suites.codis.parsing.words import normalised

NEGATIONS = frozenset(
    {"not", "no", "never", "neither", "nor", "none", "nobody", "nothing", "without", "hardly"}
)
_QUESTION = re.compile(r"(?<![^.!?])[^.!?]*+\?")
_BOUNDARY = re.compile(
    r"[.,;:!()…—–](?!\w)|[\"”](?=\s)| - |\b(?:but|however|although|though|while|whereas"
    r"|so|therefore|thus|hence)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|given|due to|as (?:it|he|she|they|we|you|i|the|this|that|there|in)\b)"
    r".*",
    re.IGNORECASE | re.DOTALL,
)
_GROUNDS = re.compile(
    r"(^|[.!;])[\s*]*+(?:because|since|given|due to|as)\b[^,.;!?]*+,", re.IGNORECASE
)
_FIGURES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\bupside down\b",
        r"\bup to (?:you|me|him|her|them|us|it|now|date)\b",
        r"\b(?:ends?|ended|makes?|made|shows?|turns?|turned|set|looks?|grows?|wakes?|gives?|gave"
        r"|giving|follow\w*|sums?|signs?|time is)(?: it| this| that| them)? up\b",
        r"\b(?:sits?|sitting|sat|lies|lying|slow\w*|breaks?|broke|calm\w*|writ\w+|narrow\w*)"
        r"(?: it| this| that| them)? down\b",
        r"\b(?:server|service|site|system|website|network)(?: is| was| went) down\b",
        r"\b(?:right|left) (?:now|away|after|before|over|behind)\b|\ball right\b",
        r"\b(?:that|you|he|she|they|we|i)(?: s| re| m| is| are| was| were| am)? right\b(?! side)",
        r"(?<!\bon )(?<!\bto )(?<!\bthe )(?<!\bat )\b(?:has |have |had )?left"
        r" (?=(?:room|bus|train|house|station|car|place|his|her|my|your|their|its|it|him|them)\b)",
        r"\b(?:has|have|had|just) left\b",
        r"\b(?:comes?|came|gives?|gave|brings?|brought|gets?|got|looks?|turns?)"
        r" (?:it |them |him |her )?back\b",
        r"\bclose (?:to|by|up)\b",
        r"\bno (?:doubt|question|wonder)(?: that)?\b",
    )
)
_UNDECIDED = re.compile(
    r"\b(?:(?:maybe|may|might|could|perhaps|(?<!not )possibl[ey]|potentially|whether|both"
    r"|sometimes|elsewhere|until|only (?:when|after|with)"
    r"|(?:to|in|for|by) (?:some|other|many|certain)|used to"
    r"|depends?|anything but)\b"
    r"|(?:can|do|does|is|am|are|would) not (?:be )?"
    r"(?:determin|tell|told|say|said|know|answer|decid|judg|identif|conclud|infer|help|assist|see)"
    r"|(?:hard|difficult) to"
    r" (?:be )?(?:determin|tell|say|know|answer|decid|judg|identif|conclud|infer|see)"
    r"|not (?:enough|sufficient|sure|certain|clear|given|specified|provided|mentioned|stated"
    r"|necessarily|always|only|just|merely|entirely|completely|exactly|that|too)"
    r"|(?:nobody|no one|none) (?:knows?|says?|said|can)"
    r"|n a\Z|insufficient|unclear|unknown|uncertain|undetermined|undecided|ambiguous"
    r"|no (?:idea|clue|information|context|answer|way)|language model|ai"
    r"|opposite of|anything (?:else |other )?than|far from|contrary to"
    r"|would be (?:wrong|incorrect|false)|is (?:untrue|mistaken)"
    r"|\Aerror\b|\Aignore previous\b)"
)
_MAY_THE_MONTH = re.compile(
    r"\b(?i:in|of|since|by|last|next|early|late|mid|during|from|on)[\s-]+May\b"
    r"|\A\W*May\W*\Z|\bMay(?=,? \d)|(?<=\d )May\b"
)
_INSTEAD = re.compile(r"\b(?:rather than|instead of|as opposed to|unlike)\b")


def statements(line: str) -> list[str]:
    """Split a line into clauses of plain words, without reasons and questions.

    >>> statements("Not up but down, because it falls. Right?")
    ['not up', 'down']
    """
    told = _REASON.sub("", _GROUNDS.sub(r"\1", without_questions(line)))
    clauses = (normalised(clause) for clause in _BOUNDARY.split(told))
    return [clause for clause in clauses if clause]


def is_open(line: str) -> bool:
    """Whether a line hedges, refuses, or denies that an answer is possible.

    >>> is_open("Maybe up."), is_open("I have no idea."), is_open("Up.")
    (True, True, False)
    >>> is_open("It may rain."), is_open("It is in May."), is_open("On 4 May it may rain.")
    (True, False, True)
    """
    told = _MAY_THE_MONTH.sub("", without_questions(line))
    return leaves_open(told) or _UNDECIDED.search(normalised(told)) is not None


def without_questions(line: str) -> str:
    """Remove questions of a line.

    >>> without_questions("Up? It goes down.")
    ' It goes down.'
    """
    return _QUESTION.sub("", line)


def without_figures(clause: str, options: Sequence[str] = ()) -> str:
    """Remove figures of speech: "right now", "upside down", "left the room"."""
    for figure in _FIGURES:
        found = figure.search(clause)
        if found and not any(found[0] in normalised(option) for option in options):
            clause = figure.sub(" ", clause)
    return " ".join(clause.split())


def affirmed(clause: str) -> str:
    """Part of a clause before its negation.

    >>> affirmed("on left rather than on right"), affirmed("not up")
    ('on left', '')
    """
    words = _INSTEAD.sub("not", clause).split()
    denied = [at for at, word in enumerate(words) if word in NEGATIONS]
    return " ".join(words[: denied[0]] if denied else words)


def n_denials(clause: str) -> int:
    """Count the words that deny; two of them are not always a yes."""
    return sum(word in NEGATIONS for word in clause.split())
