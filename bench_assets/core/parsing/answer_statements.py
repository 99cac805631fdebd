"""Which options a response states to be the answer: after "the answer is" and the like, or before.

Texts are as ``response_text.with_letters`` leaves them, options in lower case without stops.
"""

import re
from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from bench_assets.core.parsing.assertion_scope import is_meant
from bench_assets.core.parsing.normalization import bare, denies

BRACKETED = re.compile(r"\(([A-H])\)")
BARE = re.compile(
    r"(?<![\w'’°])(?<!° )([B-H]|A(?!\s+(?!(?:and|although|as|at|because|but|for|from|here|in"
    r"|on|or|over|since|than|the|then|though|which|while(?! ago)|with)"
    r"(?![\w-]))[a-z]))(?![\w'’+])",
    re.ASCII,
)
"""A letter that stands alone, and is neither an article nor a unit."""

_FAR = 1000  # characters after an opening in which a list of the options would show
_NEAR = 200  # characters in which a clause ends
_SMALL = re.compile(r"([b-h])\W*")
_RUN = re.compile(r"(?:\([A-H]\)[ ,]*(?:and |or |nor )?){2,}")
_LABELS = re.compile(r"^\s*\(([A-H])\)", re.MULTILINE)
_OPENED, _ENDED = r"(?:(?<=[(\"'])|^)", r"(?=\W*$)"
_LABELLED = re.compile(r"\(?([A-H])\b[).:]?\s*(.*)", re.DOTALL)

_STATES = re.compile(
    r"\banswer\b(?: to th\w+ question)?"
    r"|\b(?:correct|right|best) (?:corresponding )?(?:option|choice|one|point|match)\b"
    r"|\b(?:my|final) (?:choice|pick)\b|答案|正确选项|选择?(?!项)"
    r"|\b(?:I|we)(?:'d| would| will| might)? (?:choose|pick|select|say|suggest|go with|opt for"
    r"|lean towards)\b|\b(?:I|we) (?:think|believe|guess)\b",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"(?: [\w ]{1,40} would be\b)?(?:[\s:=,\"是为应该]|\b(?:the|that|it's|it|is|are|was|be|should"
    r"|would|must|likely|probably|clearly|definitely|therefore|thus|most|more|very|actually|simply"
    r"|indeed|obviously)\b)*",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.,;!?\n，。；！]|\b(?:because|since|as|while|rather|not|than|with|which|due|given|for|but"
    r"|although|though|over|instead|if|unless)\b|因为|如果|但|而",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"\(([A-H])\)\s*(?:is (?:the )?(?:correct|right|best|answer)\b(?: (?:\w+ )?"
    r"(?:answer|option|choice|one|point|match)\b)?(?! \w)|是?正确)(?=(.{0,200}))",
    re.IGNORECASE,
)


def final(text: str, texts: Sequence[str]) -> set[str]:
    """Statement after the last "final answer", regardless of earlier ones."""
    at = text.rfind("inal answer")
    return stated(text, texts, at) if at > 0 else set()


def stated(text: str, texts: Sequence[str], start: int = 0) -> set[str]:
    """Options of clauses that begin with one after "the answer is" and similar.

    Args:
        text: The response.
        texts: The options.
        start: Where in the text to begin.
    """
    told = _statements(text, texts, start)
    return {letter for letters, meant in told if meant for letter in letters}


def not_meant(text: str, texts: Sequence[str]) -> set[str]:
    """Options of such clauses that are denied, asked, supposed or reported."""
    told = list(_statements(text, texts, 0))
    return {letter for letters, meant in told if not meant for letter in letters}


def _statements(text: str, texts: Sequence[str], start: int) -> Iterator[tuple[set[str], bool]]:
    """Option of each statement, and whether its sentence upholds it."""
    for confirmed in _CONFIRMED.finditer(text, start):
        letters = {confirmed[1].upper(), *BRACKETED.findall(clause_of(confirmed[2]))}
        yield letters, is_meant(text, *confirmed.span())
    whole = _any_of(texts)
    for opening in _STATES.finditer(text, start):
        lead = _LEADS.match(text, opening.end())
        begin = lead.end() if lead else opening.end()
        said = text[begin : begin + _FAR]
        clause = _clause_with_text(said[:_NEAR], whole)
        first = clause[1:2]
        if run := _RUN.match(said):
            clause += run[0]
        if named := _named(clause, said, lead[0] if lead else "", texts):
            if len({label[1] for label in _LABELS.finditer(said)} | {first}) > 1:
                continue  # it opens a list of the options
            yield named, is_meant(text, opening.start(), begin + len(clause))


def clause_of(text: str) -> str:
    """Text before the first stop, or before the first word of a side clause."""
    end = _CLAUSE_END.search(text)
    return text[: end.start()] if end else text


def only_a_text(text: str, texts: Sequence[str]) -> set[str]:
    """The options whose text is all there is."""
    said = bare(text)
    return {a for a, option in zip(ascii_uppercase, texts, strict=False) if said and option == said}


def _clause_with_text(text: str, whole: str) -> str:
    """The clause a text begins with, and the whole of the option's text if it begins with one."""
    begun = re.match(whole, text, re.IGNORECASE)
    length = begun.end() if begun else 0
    return text[:length] + clause_of(text[length:])


def _any_of(texts: Sequence[str]) -> str:
    """A pattern of any option's text, the longest first; where none is known it fits nothing."""
    known = sorted(filter(None, texts), key=len, reverse=True)
    return rf"(?:(?:the|an) )?(?:{'|'.join(map(re.escape, known)) or '(?!)'})(?!\w)"


def _named(clause: str, said: str, lead: str, texts: Sequence[str]) -> set[str]:
    """The options of a clause that begins with one, and the one of the line it begins."""
    labelled = _LABELLED.fullmatch(clause)
    if exact := only_a_text(labelled[2] if labelled else clause, texts):
        return exact | ({labelled[1]} if labelled else set())
    if _begins_with(clause, texts) and not denies(lead + _without_texts(clause, texts)):
        rest = said[len(clause) :].partition("\n")[0]  # "B. the second image"
        return _all_in(clause, texts) | only_a_text(rest, texts)
    small = _SMALL.fullmatch(clause)
    return {small[1].upper()} if small else set()


def _without_texts(clause: str, texts: Sequence[str]) -> str:
    """A clause without the options' own texts: "no" that is an option denies nothing."""
    whole = f"{_OPENED}{_any_of(texts)}{_ENDED}"
    return re.sub(whole, "", clause, flags=re.IGNORECASE)


def _begins_with(clause: str, texts: Sequence[str]) -> bool:
    said = bare(clause)
    begun = any(option and re.match(rf"{re.escape(option)}(?!\w)", said) for option in texts)
    return begun or BRACKETED.match(clause) is not None or BARE.match(clause) is not None


def _all_in(clause: str, texts: Sequence[str]) -> set[str]:
    """The options that a clause names in any way."""
    by_letter = {*BRACKETED.findall(clause), *BARE.findall(clause)}
    return by_letter | {
        letter
        for letter, option in zip(ascii_uppercase, texts, strict=False)
        if option and re.search(rf"(?<!\w){re.escape(option)}(?!\w)", clause, re.IGNORECASE)
    }
