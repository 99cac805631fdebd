"""What a reply answers: which of the two possible answers of a pair its final line names.

Where the paper has people read the outputs (sections 4.2 and 5.3), these rules read them: for the
judge that needs no model, for context awareness and for output variability. A reply that is
hedged, negated or names both answers names neither: better to miss an answer than to invent one.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from bench_assets.core.rows import Question

_MARKUP = " \t*_#`-"
_LABEL = re.compile(
    r".*\b(?:(?:answer|(?:second|final|last) part|part (?:2|two)|summary|conclusion)\W{0,4}[:：–—-]"
    r"|answer(?: to (?:the|your) question)? is\b:?)|\W*(?:2|ii)[.)]+\s",
    re.IGNORECASE | re.DOTALL,
)
_AFTERNOON = re.compile(r"\b(0?[1-9]|1[01]):(\d\d) ?p\.?m\b")
_TIME_RANGE = re.compile(r"answers from (\d+):(\d\d) to (\d+):(\d\d) are all right")
_WORD = re.compile(r"\d+:\d\d|[^\W_]+")
_IDIOM = re.compile(r"\b(?:right (?:now|away)|all right)\b")
_INSTEAD = re.compile(r" (?:rather than|instead of) ")
_UNDECIDED = re.compile(
    r"\b(?:(?:can not|could not|unable to|impossible to|not possible to|hard to|difficult to)"
    r"(?: be)? (?:determin|tell|say|know|answer|decid|judg|identif|conclud|infer)"
    r"|not (?:enough|sufficient|sure|certain|clear|known|given|specified|provided|mentioned)"
    r"|insufficient|unclear|unknown|uncertain|undetermined|ambiguous|no idea|depend)"
)
_YES_NO_FIRST = re.compile(
    r"\W*(?:(?:so|therefore|thus|hence|definitely|probably|likely|in conclusion)\W+)*(yes|no)\b"
    r"\s*(?=$|[^\w\s]|(?:it|he|she|they|you|we|i|this|that|there|the)\b)"
)
_YES_NO_LAST = re.compile(r"\b(yes|no)\W*$")
_NEGATIONS = frozenset({"not", "no", "never", "neither", "nor", "without", "hardly"})
# Not the A of "edge A": an article is followed by a word and, within a text, in small letters.
_ARTICLE = re.compile(r"\b(?:(?i:the|an)|a)\b(?=\W+\w)|\A\W*A\b(?=\s+\w)")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# Words that two answers may differ in, but that a reply may hold whichever of them it means.
_FUNCTION_WORDS = frozenset(
    word
    for words in (
        "is are am be been being was were do does did has have had will would can going",
        "i you he she it we they me him her us them my your his its our their",
        "of to at by from in on into onto for with and or not no only that this there one",
    )
    for word in words.split()
)


def read_answer(question: Question, reply: str) -> str:
    """Read the answer of a reply: the possible answer that it names, or else its final line."""
    return named_option(reply, question.options) or final_answer(reply)


def final_answer(reply: str) -> str:
    r"""Cut out of a reply what Table 11 asks for as its second part, without its label.

    >>> final_answer("The greenery is below you, so you go up.\n\nPart 2: **Up.**")
    'Up.'
    """
    lines = [line.strip(_MARKUP) for line in reply.splitlines() if line.strip(_MARKUP)]
    if not lines:
        return ""
    label = _LABEL.match(lines[-1])
    return lines[-1][label.end() if label else 0 :].strip(_MARKUP)


def named_option(reply: str, options: Sequence[str]) -> str | None:
    """Find the one possible answer that a reply commits to, or None.

    A reply that opens with a bare answer and explains it afterwards commits to it, unless the
    explanation speaks for another.

    >>> named_option("He is walking up the stairs.", ("Up.", "Down."))
    'Up.'
    >>> named_option("He could be going up or down.", ("Up.", "Down.")) is None
    True
    """
    opening = _exactly(reply.strip().split("\n")[0], options)
    closing = final_answer(reply)
    found = _exactly(closing, options) or _stated(closing, options)
    if opening is None or found == opening:
        return found
    others = [option for option in options if option != opening]
    contradicted = any(_share_named(normalised(closing), other, [opening]) for other in others)
    return None if found or contradicted else opening


def normalised(text: str) -> str:
    """Reduce a text to its words: no case, punctuation or articles, numbers up to ten spelt out.

    >>> normalised("**It isn't** on the “left”: 2 p.m.")
    'it is not on left two p m'
    """
    plain = _ARTICLE.sub(" ", unicodedata.normalize("NFKC", text)).casefold().replace("’", "'")
    plain = plain.replace("n't", " not").replace("cannot", "can not")
    plain = _AFTERNOON.sub(lambda found: f"{int(found[1]) + 12}:{found[2]}", plain)
    return " ".join(_spelt(word) for word in _WORD.findall(plain))


def phrase_in(phrase: str, words: str) -> bool:
    """Whether normalised words hold a normalised phrase, as whole words in a row."""
    return f" {phrase} " in f" {words} "


def _spelt(word: str) -> str:
    if ":" in word:
        return word.removeprefix("0")
    return _NUMBERS[int(word)] if word.isdecimal() and int(word) < len(_NUMBERS) else word


def _exactly(line: str, options: Sequence[str]) -> str | None:
    words = normalised(line)
    return _only(option for option in options if words == normalised(option))


def _stated(line: str, options: Sequence[str]) -> str | None:
    words = _IDIOM.sub(" ", normalised(line))
    if _UNDECIDED.search(words):
        return None
    if {normalised(option) for option in options} == {"yes", "no"}:
        stated = _yes_or_no(line)
        return _only(option for option in options if normalised(option) == stated)
    return _only(
        option
        for option in options
        if _commits(words, option, [other for other in options if other != option])
    )


def _only(options: Iterable[str]) -> str | None:
    found = list(options)
    return found[0] if len(found) == 1 else None


def _yes_or_no(line: str) -> str | None:
    plain = line.casefold()
    first = _YES_NO_FIRST.match(plain)
    found = first or _YES_NO_LAST.search(plain)
    if found is None:
        return None
    # "No, he did not" agrees with itself; any other denial takes back what the line says.
    denials = frozenset() if first and first[1] == "no" else _NEGATIONS
    takes_back = (denials | {"yes", "no"}) - {found[1]}
    return None if takes_back & set(normalised(line).split()) else found[1]


def _commits(words: str, option: str, others: Sequence[str]) -> bool:
    negations = _NEGATIONS - set(normalised(option).split())
    # "left, not right" says left.
    head, _, tail = _INSTEAD.sub(" not ", words).rpartition(" not ")
    denies_other = any(_share_named(tail, other, [option]) for other in others)
    if head and "not" in negations and denies_other and not _share_named(tail, option, others):
        words = head
    if any(_share_named(words, other, [option]) for other in others):
        return False
    return not negations & set(words.split()) and _share_named(words, option, others) == 1


def _share_named(words: str, option: str, others: Sequence[str]) -> float:
    """Share of what sets an answer apart from the others that a normalised line holds."""
    phrase, phrases = normalised(option), [normalised(other) for other in others]
    said = set(words.split())
    if times := _accepted_times(option):
        return float(bool(times & said))
    if phrase_in(words, phrase) and not any(phrase_in(words, other) for other in phrases):
        return 1.0  # a part of one answer only, such as "right to left" of "from right to left"
    if marks := set(phrase.split()) - _FUNCTION_WORDS - set(" ".join(phrases).split()):
        return len(marks & said) / len(marks)
    for longer in phrases:
        # "not appropriate" does not say "appropriate".
        words = words.replace(longer, " ") if phrase_in(phrase, longer) else words
    return float(phrase_in(phrase, words))


def _accepted_times(option: str) -> set[str]:
    """Minutes that an answer such as "6:09 (answers from 6:07 to 6:10 are all right)" allows."""
    if not (found := _TIME_RANGE.search(option)):
        return set()
    first, last = (60 * int(found[i]) + int(found[i + 1]) for i in (1, 3))
    return {f"{minute // 60}:{minute % 60:02}" for minute in range(first, last + 1)}
