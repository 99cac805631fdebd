"""Polarity: whether a line answers a question with yes or no, directly or by a statement.

"It is illegal" answers "Is his behaviour legal?" with no, "Not appropriate." answers "Is my gesture
appropriate?" with no. A statement is an answer if it judges what the question asks about
(``opposites.txt``), or if it repeats the question's own words and nothing else.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from bench_assets.core.parsing import word_lists
from bench_assets.core.parsing.sentences import count_negations
from bench_assets.core.parsing.word_lists import alternatives
from bench_assets.suites.codis.parsing.words import (
    Opposites,
    has_any,
    normalize_text,
    opposites,
    remove_figures,
    statements,
    stem,
    stems,
)

_PRONOUN = r"(?:it|he|she|they|you|we|i|this|that|there)"
_AGREEMENT = (
    r"(?:in conclusion )?(?:definitely |probably |likely |most likely |actually |in fact )?"
    rf"(?:(?P<yes>{{}}|(?P<polite>{{}})(?=\Z| {_PRONOUN}\b))(?! not\b)|(?P<no>{{}}))\b(?P<rest>.*)"
)
_OFFER = re.compile(  # after a polite "Certainly!", which then answers nothing
    r"(?:i|we|here|let|please|(?:correct|right) option)\b"
)
_FINAL_VERDICT = re.compile(
    r"\b(?:is|be|i (?:(?:d|would|will|must|have to) )*(?:say|think|believe|guess)) (yes|no)$"
)
_NEGATED_START = re.compile(r"not |(?:no|never)\Z")
_PHRASE_START = re.compile(rf"(?! *{_PRONOUN}\b) *\w")
_MODALS = {
    "can": frozenset({"can", "must", "able"}),
    "may": frozenset({"can", "must"}),
    "will": frozenset({"will", "going"}),
    "would": frozenset({"would", "will"}),
    "should": frozenset({"should", "must", "have"}),
}
_COPULAS = frozenset({"is", "are", "am", "was", "were"})
_VERBS = (_COPULAS - {"am"}) | {"has", "have", "had", "did", "does", "do", "will", "can", "should"}
_LIGHT_VERBS = frozenset(map(stem, ("make", "take")))
_LEAST_SHARE, _MIN_SHARE_WITHOUT_VERB = (
    0.5,
    0.6,
)  # of the question's predicate: with its verb, without it
_FIRST_PERSON = frozenset({"i", "we"})
_PRONOUNS = frozenset({"i", "you", "he", "she", "it", "we", "they", "this", "that", "there"})
_FILLERS = frozenset(
    word
    for words in (
        "is are am be been being was were do does did has have had will would can may should must",
        "i you he she it we they me him her us them my your his its our their s not no never",
        "of to at by from in on into onto for with and that this there here yet able",
        "now already currently indeed really very quite just considered going clearly also",
        "good ok get one person behavior behaviour",
    )
    for word in words.split()
)
_OPINION_PREFIX = re.compile(r"^i (?:would )?(?:think|believe|guess|say|assume|see)(?: that)?\b")
_MAY = re.compile(r"\byou may\b", re.IGNORECASE)


def read_may_as_can(question: str, line: str) -> str:
    """Read "you may" as a permission if the question asks for one, not as a hedge."""
    asks_permission = (
        question.casefold().split()[:1] in (["can"], ["may"]) or " permi" in question.casefold()
    )
    return _MAY.sub("you can", line) if asks_permission else line


def yes_or_no(question: str, line: str) -> bool | None:
    """Answer of a line to a yes/no question; None if unclear."""
    clauses = [remove_figures(clause) for clause in statements(line)]
    if not clauses:
        return None
    if len(clauses) > 1 and _contradicts(*clauses[:2]):
        clauses = clauses[1:]
    word, clauses = _split_verdict(clauses)
    judged = [
        verdict for clause in clauses if (verdict := _clause_polarity(question, clause)) is not None
    ]
    if word is None:
        return judged[0] if len(set(judged)) == 1 else None
    word_set = set(" ".join(clauses).split())
    if judged:
        return word if judged[0] == word and "yes" not in word_set else None
    # "No, he did not" is consistent; any other denial contradicts the opening word.
    takes_back = {"yes"} if word is False else {"yes", "no", "not", "never", "without"}
    return None if takes_back & word_set else word


def affirms_option(option: str, line: str) -> bool | None:
    """Whether a line affirms or denies an answer such as "Appropriate."; None if neither."""
    judged = [
        verdict
        for clause in statements(line)
        if (verdict := _clause_polarity(f"is it {normalize_text(option)}", remove_figures(clause)))
        is not None
    ]
    return judged[0] if len(set(judged)) == 1 else None


def _contradicts(short: str, plain: str) -> bool:
    """Whether a yes or no contradicts the short form before it: "It is not. Yes, it is."."""
    found = _agreement().fullmatch(plain)
    affirms = next((agrees for agrees, one in _short_forms().items() if one.fullmatch(short)), None)
    return found is not None and affirms is not None and affirms != bool(found["yes"])


def _split_verdict(told: Sequence[str]) -> tuple[bool | None, list[str]]:
    """Yes or no at a line's beginning or end, and the rest of the line."""
    if last := _FINAL_VERDICT.search(told[-1]):
        rest = [*told[:-1], told[-1][: last.start()]]
        return (None, []) if count_negations(" ".join(rest)) else (last[1] == "yes", rest)
    for at, clause in enumerate(told):
        found = _agreement().fullmatch(clause)
        if found and (at == 0 or not found["rest"].strip()):
            denied = _NEGATED_START.match(found["no"] or "")
            if denied and _PHRASE_START.match(found["rest"]):
                break  # "no danger" denies a danger
            others = (_OPINION_PREFIX.sub("", one).strip() for one in [*told[:at], *told[at + 1 :]])
            if found["polite"] and any(map(_OFFER.match, others)):
                break  # "Certainly! Here is what I see"
            return bool(found["yes"]), [*told[:at], found["rest"].strip(), *told[at + 1 :]]
    return None, list(told)


@cache
def _agreement() -> re.Pattern[str]:
    """Pattern of the words for yes and no, and of what follows them."""
    sections = ("agrees / plainly", "agrees / or is polite", "disagrees / plainly")
    return re.compile(_AGREEMENT.format(*map(_section_pattern, sections)), re.IGNORECASE)


@cache
def _short_forms() -> Mapping[bool, re.Pattern[str]]:
    """Patterns of the short forms without a predicate: "it is" (True), "it is not" (False)."""
    return {
        True: re.compile(_section_pattern("agrees / in short"), re.IGNORECASE),
        False: re.compile(_section_pattern("disagrees / in short"), re.IGNORECASE),
    }


def _section_pattern(section: str) -> str:
    return alternatives(Path(word_lists.__file__).with_name("option_forms.txt"), section)


def _clause_polarity(question: str, clause: str) -> bool | None:
    """Polarity of one clause about the question: True, False, or None."""
    clause = _OPINION_PREFIX.sub("", clause).strip()
    words = clause.split()
    if not words or words[0] in _FIRST_PERSON:
        return None  # a refusal, or another subject
    for verdict, in_short in _short_forms().items():
        if in_short.fullmatch(clause):
            return verdict
    sign = _judgement_polarity(question, clause)
    if sign is None and _repeats_question(question, clause):
        sign = True
    if sign is None or (denials := count_negations(clause)) > 1:
        return None
    return sign != bool(denials)


def _judgement_polarity(question: str, clause: str) -> bool | None:
    """Whether a clause uses the question's judgement (True) or its opposite (False)."""
    question_stems, clause_stems = stems(normalize_text(question)), stems(clause)
    found = set()
    for sides in _concepts(question):
        for side, other in (sides, sides[::-1]):
            if has_any(question_stems, side) or (
                sides in opposites("permission") and side is sides.one
            ):
                found |= {
                    agrees
                    for agrees, group in ((True, side), (False, other))
                    if has_any(clause_stems, group)
                }
    return found.pop() if len(found) == 1 else None


def _concepts(question: str) -> list[Opposites]:
    question_stems = stems(normalize_text(question))
    found = [s for s in opposites("judgements") if has_any(question_stems, s.one | s.other)]
    asks_permission = normalize_text(question).split()[:1] in (["can"], ["may"])
    return [*found, *opposites("permission")] if asks_permission else found


def _repeats_question(question: str, clause: str) -> bool:
    """Whether a clause repeats the question, or its predicate, as a statement.

    "The athlete has hit the ball" does, "the athlete has the ball" and "the ball" do not.
    """
    question_words = normalize_text(question).split()
    clause_words = clause.split()
    if not question_words or (
        question_words[0] in _MODALS and not _MODALS[question_words[0]] & set(clause_words)
    ):
        return False
    content = [stem(word) for word in question_words if word not in _FILLERS]
    clause_stems = [stem(word) for word in clause_words if word not in _FILLERS]
    if not content or not clause_stems or not set(clause_stems) <= set(content):
        return False
    if clause_words[:2] == ["you", "can"] and has_any(
        stems(" ".join(question_words)), opposites("permission")[0].one
    ):
        return True
    by_pronoun = len(question_words) > 1 and question_words[1] in _PRONOUNS
    predicate = content if by_pronoun else content[1:] or content
    shared = sum(word in clause_stems for word in predicate) / len(predicate)
    ends = content[-1] in clause_stems
    if question_words[0] in _COPULAS:
        return (
            ends
            and shared >= _LEAST_SHARE
            and (bool(_COPULAS & set(clause_words)) or clause_words[0] == "not")
        )
    head = next((word for word in predicate if word not in _LIGHT_VERBS), "")
    if head in clause_stems:
        return shared >= _LEAST_SHARE
    return ends and shared >= _MIN_SHARE_WITHOUT_VERB and bool(_VERBS & set(clause_words))
