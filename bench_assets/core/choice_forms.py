"""The forms in which a reply names an option, each a function: text, options -> their letters.

Texts are as ``reply_text.with_letters`` leaves them, options in lower case without stops.
"""

import re
from collections.abc import Callable, Sequence
from string import ascii_uppercase
from typing import TypeAlias

from bench_assets.core.reply_text import bare, concludes, denies, is_sure, sentences

_Find: TypeAlias = Callable[[str, Sequence[str]], set[str]]

_ALONE = re.compile(r"\W*([A-H])\W*(?:选?项)?\W*", re.IGNORECASE)
_BRACKETED = re.compile(r"\(([A-H])\)")
_BARE = re.compile(r"(?<![\w'’])([B-H]|A(?!\s+[a-z]))(?![\w'’])", re.ASCII)
_WORD = re.compile(r"\w+")
_ARTICLE = re.compile(r"\bA\b")
_NEXT_LABEL = re.compile(r"(?<!\()\b([B-H])[.:)] ")
_GOES_ON = re.compile(r"(?:is|was|are|has|appears|seems|looks|would|and|or|on|in)\b")
_LABEL = re.compile(r"\s*(?:\(([A-H])\)|([A-H])\s*[.:)、-])\s*(.*)", re.IGNORECASE)
_LISTED = re.compile(r"[\s-]*\(?([A-H])\b\)?[\s.:,]", re.IGNORECASE)

_FAR = 1000  # characters after an opening in which a list of the options would show
_SMALL = re.compile(r"([b-h])\W*")
_RUN = re.compile(r"(?:\([A-H]\)[ ,]*(?:and |or |nor )?){2,}")
_LABELS = re.compile(r"^\s*\(([A-H])\)", re.MULTILINE)

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
    r"|would|must|likely|probably|clearly|definitely|therefore)\b)*",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.,;!?\n，。；！]|\b(?:because|since|as|while|rather|not|than|with|which|due|given|for)\b|因为",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"\(([A-H])\)\s*(?:is (?:the )?(?:correct|right|best|answer)\b(?: (?:\w+ )?"
    r"(?:answer|option|choice|one|point|match)\b)?(?!\s*\?| [\w])|是?正确)(.*)",
    re.IGNORECASE,
)
_BEING = re.compile(
    r"\(([A-H])\)(?:, which [^,.]{1,120},)?(?: (?:is|appears|seems|looks|would|to|be|much|\w+ly))+"
    r" (\w+)(?! to \()",
    re.IGNORECASE,
)
_COMPARATIVE = re.compile(r"\((\w)\) is (\w+)")
_CLAIMS = re.compile(r"\b(?:most (?:similar|likely)|more accurately|shares|corresponds|moving)\b")
_SIDES = ("left", "right")
_MOVES = re.compile(r"\bcamera\b|相机|镜头", re.IGNORECASE)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS, 1)}
_NUMBER = re.compile(rf"\b(?:\d+|{'|'.join(_NUMBERS)})\b", re.IGNORECASE)


def _only_a_letter(text: str, texts: Sequence[str]) -> set[str]:
    del texts
    return {found[1].upper()} if (found := _ALONE.fullmatch(text)) else set()


def _only_a_text(text: str, texts: Sequence[str]) -> set[str]:
    """The options whose text is all there is."""
    said = bare(text)
    return {a for a, option in zip(ascii_uppercase, texts, strict=False) if said and option == said}


def _final(text: str, texts: Sequence[str]) -> set[str]:
    """What is stated after the last "final answer", whatever was stated before."""
    before, _, after = text.rpartition("inal answer")
    return _stated(f"answer{after}", texts) if before else set()


def _stated(text: str, texts: Sequence[str]) -> set[str]:
    """What clauses name that begin with an option after "the answer is" and the like."""
    found: set[str] = set()
    for confirmed in _CONFIRMED.finditer(text):
        found |= {confirmed[1].upper(), *_BRACKETED.findall(_clause(confirmed[2]))}
    for opening in _STATES.finditer(text):
        lead = _LEADS.match(text, opening.end())
        start = lead.end() if lead else opening.end()
        said = text[start : start + _FAR]
        clause = _clause(said[:200])
        if len({_letter(one) for one in _LABELS.finditer(said)} | {clause[1:2]}) > 1:
            continue  # it opens a list of the options
        if run := _RUN.match(said):
            clause += run[0]
        if _begins_with(clause, texts) and not denies(f"{lead[0] if lead else ''}{clause}"):
            rest = said[len(clause) :].partition("\n")[0]  # "B. the second image"
            found |= _all_in(clause, texts) | _only_a_text(rest, texts)
        elif small := _SMALL.fullmatch(clause):
            found.add(small[1].upper())
    return found


def _option_line(text: str, texts: Sequence[str]) -> set[str]:
    """Lines that are a letter with the text of its option; several are a list of the options."""
    labels = [label for line in text.splitlines() if (label := _LABEL.fullmatch(line))]
    return {_letter(label) for label in labels if _letter(label) in _only_a_text(label[3], texts)}


def _opening_letter(text: str, texts: Sequence[str]) -> set[str]:
    lines = text.splitlines()
    if lines and (alone := _ALONE.fullmatch(lines[0])):
        others = (_ALONE.fullmatch(line) for line in lines[1:])
        return {_letter(alone)} | {_letter(other) for other in others if other}
    labels = [_LABEL.fullmatch(line) for line in lines]
    first = labels[0] if labels and not any(labels[1:]) else None
    if first is None or _GOES_ON.match(first[3]):
        return set()
    labelled = {_letter(other) for other in _NEXT_LABEL.finditer(first[3])}
    said = names(sentences(first[3])[0], texts) | _only_a_text(first[3], texts)
    return {_letter(first)} | labelled | said


def _opening_text(text: str, texts: Sequence[str]) -> set[str]:
    """An option's text before the first stop, or if it is one word before a comma: "Yes, ..."."""
    first, word = re.split(r"[.;!。\n]", text)[0], re.split(r"[,，]", text)[0].strip()
    return _only_a_text(first, texts) or (_only_a_text(word, texts) if " " not in word else set())


def _short(text: str, texts: Sequence[str]) -> set[str]:
    if len(text.split()) > 6 or denies(text) or not (found := set(_BARE.findall(text))):
        return set()
    return found | names(text, texts) | ({"A"} if _ARTICLE.search(text) else set())


def _compared(text: str, texts: Sequence[str]) -> set[str]:
    """The letters that are said to be what the options say of them.

    "(A) is closer to the camera than (B)" where the options are "(A) is closer", "(B) is closer".
    """
    said = [one for s in sentences(text) if is_sure(s) for one in _BEING.finditer(s)]
    compared = {f"({one[1].casefold()}) is {one[2].casefold()}" for one in said}
    return {a for a, option in zip(ascii_uppercase, texts, strict=False) if option in compared}


def _claimed(text: str, texts: Sequence[str]) -> set[str]:
    """What is named up to the end of clauses that claim what is asked for."""
    found: set[str] = set()
    for sentence in sentences(text):
        if claim := _CLAIMS.search(sentence):
            head = sentence[: claim.end()] + _clause(sentence[claim.end() :])
            found |= names(head, texts) if is_sure(head) else set()
    return found


def _mentioned(text: str, texts: Sequence[str]) -> set[str]:
    """What is named, if it is named at least once where nothing is denied."""
    said = [sentence for sentence in sentences(text) if not denies(sentence)]
    return names(text, texts) if names("\n".join(said), texts) else set()


def concluded(text: str, texts: Sequence[str]) -> set[str]:
    """What the last sentence that draws a conclusion names, unless it opens a list of options."""
    if len(_option_line(text, texts)) > 1:
        return set()
    drawn = [sentence for sentence in sentences(text) if concludes(sentence)]
    return names(drawn[-1], texts) if drawn and is_sure(drawn[-1]) else set()


def _clause(text: str) -> str:
    end = _CLAUSE_END.search(text)
    return text[: end.start()] if end else text


def _begins_with(clause: str, texts: Sequence[str]) -> bool:
    said = bare(clause)
    begun = any(option and re.match(rf"{re.escape(option)}(?!\w)", said) for option in texts)
    return begun or _BRACKETED.match(clause) is not None or _BARE.match(clause) is not None


def _all_in(clause: str, texts: Sequence[str]) -> set[str]:
    """The options that a clause names in any way."""
    by_letter = {*_BRACKETED.findall(clause), *_BARE.findall(clause)}
    return by_letter | {
        letter
        for letter, option in zip(ascii_uppercase, texts, strict=False)
        if option and re.search(rf"(?<!\w){re.escape(option)}(?!\w)", clause, re.IGNORECASE)
    }


def names(text: str, texts: Sequence[str]) -> set[str]:
    """The options that a text names: by letter, by their text, or as the one number in it."""
    words = {one[2] for option in texts if (one := _COMPARATIVE.fullmatch(option))}
    told = [
        one for one in sentences(text) if not words or words & set(_WORD.findall(one.casefold()))
    ]
    by_letter = set(_BRACKETED.findall("\n".join(told)))
    if all(option.isdecimal() for option in texts):
        said = {_DIGITS.get(n.lower(), n) for n in _NUMBER.findall(text)}
        return by_letter | (_only_a_text(min(said), texts) if len(said) == 1 else set())
    moves = "\n".join(sentence for sentence in sentences(text) if _MOVES.search(sentence))
    return by_letter | {
        letter
        for letter, option in zip(ascii_uppercase, texts, strict=False)
        if len(option) > 3
        and re.search(
            rf"(?<!\w){re.escape(option)}s?(?!\w)", moves if option in _SIDES else text, re.I
        )
    }


def without_list(text: str, texts: Sequence[str]) -> str:
    """Leave out the lines that go through the options one by one: they choose none."""
    lines = text.splitlines()
    listed = {line: label[1] for line in lines if (label := _LISTED.match(line))}
    if len(set(listed.values())) < 2:
        return text
    return "\n".join(s for s in lines if s not in listed or _option_line(s, texts)) or text


def _letter(found: re.Match[str]) -> str:
    """The letter that a pattern found: it is in the first of its groups that is not empty."""
    letter: str = next(filter(None, found.groups()))
    return letter.upper()


# What a form is called, and how it is found.
CLEAR: tuple[tuple[str, _Find], ...] = (
    ("nothing but a letter", _only_a_letter),
    ("nothing but an option's text", _only_a_text),
    ("a final answer", _final),
    ("a stated answer", _stated),
    ("the one line that is an option", _option_line),
    ("the letter it begins with", _opening_letter),
    ("the option it begins with", _opening_text),
    ("the only letter", _short),
)
VAGUE: tuple[tuple[str, _Find], ...] = (
    ("the comparison it draws", _compared),
    ("what it claims", _claimed),
    ("the only option mentioned", _mentioned),
)
UNDECIDED = (_option_line, _short)
"""The forms in which two options do not yet mean that none was chosen."""
IN_FULL = (_final, _stated)
"""The forms that are looked for in lists of the options too."""
