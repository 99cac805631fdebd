"""Proves that a number of a problem has one path through its solution, from the text to the answer.

A number may be replaced only if

* every step of the solution is a calculation in brackets;
* every number in a calculation has one source;
* every result, and every number of the text, is used;
* a step that uses a number of the text names what the text counts.

Anything else is refused with a reason: words can carry a number on ("half of them left") or
contradict another one ("6 cats, Tim, Tom ..."), and a 6 can be the faces of a cube, not the dogs.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import dropwhile, groupby, takewhile
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.reading.numbers import parse_number
from bench_assets.core.text.number_words import format_number, words_to_digits

CALCULATION = re.compile(r"<<([^<>=]+)=([^<>=]+)>>")
LITERAL = re.compile(r"\d+\.?\d*|\.\d+")

_UBIQUITOUS_NUMBERS = frozenset(
    {1, 2, 7, 12}
)  # oneself; both, halves; days of a week; months of a year
_HINTS = {
    float(number): re.compile(rf"\b(?:{'|'.join(words)})", re.IGNORECASE)
    for number, words in json.loads(
        Path(__file__).with_name("usual_numbers.json").read_text(encoding="utf-8")
    ).items()
}
_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")
_ECHO = re.compile(r"[-\d\s.,$+*/x×÷()]*=?[\s$]*$")  # "5*3=" before a calculation
_RESULT = re.compile(r"[\s$]*\d[\d,]*(?:\.\d+)?")  # "15" after it
_MULTIPLIERS = frozenset({2, 3, 4})  # twice, a third, a quarter: stated in the text alone
_UNBRACKETED_STEP = re.compile(
    r"\d[^.\n]*(?:=|\b(?:is|are|was|were|makes?|made|gives?|gave|leaves?|left|equals?|becomes?|became|totals?)\b)"
    r"[^.\n\d]*\d"
)
_CONDITIONAL_WORDS = re.compile(  # words that let a number decide which calculation applies
    r"\b(?:unless|otherwise|whoever|whichever|whether|enough|at (?:least|most)|up to|"
    r"round(?:s|ed)?|as many as \w+ can|how many full|o'?clock|[ap]\.?m|odd|even number|"
    r"remainder|winner|wins?|outnumber\w*|equal(?:ly)?|same (?:number|amount)|"
    r"\d+ seats|room for|capacity|among (?:them|these|those)|"
    r"of (?:the|these|those|his|her|its|their) (?:\w+,? )?\d|"
    r"of \d+,? \d|an? (?:\w+ )?\w+ of \d|"
    r"(?:which|that) (?:is|are|was|were) (?:\w+ )?(?:twice|half|double|thrice|triple|times|"
    r"as many)|(?<!1 )another|partners?|in pairs|pairs? up|shar(?:es?|ed|ing)|splits?|left over|"
    r"none|beats?|record|"
    r"minimum|maximum|limit|discounts?|most|(?:larg|small|rich|old|young|great|high|low|bigg)(?:er|est)|"
    r"so (?:many|much|few|high|low|big|large|small)|such|"
    r"(?:big|large|bulk|small|heavy|high|long) (?:order|purchase|group|famil|part|buyer|bill|"
    r"parcel|sum|amount|quantit)\w*|\d \w+ (?:back|off)|(?:thanks|due|owing) to|because of|"
    r"spell(?:s|ed|ing)?|letters? (?:of|in)|"
    r"\w+day (?:to|through|till|until) \w+day|"
    r"(?:what|which) (?:day|date|time|hour|month|year|percent\w*)|"
    r"if\b[^.?!,]*\b(?:more|less|fewer|over|under|above|below|exceed\w*|reach\w*))\b",
    re.IGNORECASE,
)
_RATE_BEFORE = re.compile(
    r"\b(?:each|every|per)\b(?!\s+of\s*$)[^.?!;\n\d]*$|\bat\s\$?$", re.IGNORECASE
)
_RATE_AFTER = re.compile(
    r"[^.?!;,\n\d]*"
    r"\b(?:each|per|apiece|every|an? (?:second|minute|hour|day|week|month|year|piece))\b",
    re.IGNORECASE,
)
_NO_NUMBER = re.compile(r"\bone (?:after|by|beside) (?:the other|one)\b", re.IGNORECASE)
_SENTENCES = re.compile(r"[.?!](?!\d)")
_CLAUSES = re.compile(r"[;:()]|,(?!\d)|\s[-–—]\s")
_QUESTION = re.compile(r"\s*(?:and\s+)?(?:how|what|which|who|when)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\s*(?:if|since|because|as|but|where|while|given|when)\b", re.IGNORECASE)
_TIMES = frozenset({"day", "week", "month", "year", "hour", "minut"})  # stems
_JOINT = re.compile(r",? and |, ?")
_LONGEST_MEMBER = 3  # words of a list's member: "a green car"
_LIST_END = re.compile(r"[.?!;:\d]")
_BACK_REFERENCE = re.compile(
    r"\b(?:the|these|those|all|his|her|its|their)(?: \w+)? $", re.IGNORECASE
)
_ANAPHORA = re.compile(
    r"^\s*(?:if|since|because|as)\b|\b(?:they|them|their|these|those|its?|all|both|every|each|rest|others?)\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.,;:?!()\n\d]")
_WORD = re.compile(r"[a-z]+|\$", re.IGNORECASE)
_MORE = re.compile(r"\s*(?:more|fewer|less|other)\b", re.IGNORECASE)
_MAX_UNIT_WORDS = 4
_MAX_EXTRA_WORDS = 1  # further words of a clause: "on the table", not "in a square as wide as long"
_EMPTY = re.compile(
    r"(?:a|after|all|also|an|and|another|any|are|as|at|be|before|but|buy|buys|by|did|do|does|"
    r"each|every|far|few|fewer|for|from|get|gets|had|has|have|he|her|him|his|how|if|in|"
    r"into|is|it|its|less|many|more|much|of|on|one|or|other|own|per|she|so|some|such|than|"
    r"that|the|their|them|then|there|they|this|times|to|was|were|what|when|which|who|whose|will|"
    r"with|you)"
)
_GENERAL = frozenset(
    {"kid", "child", "children", "student", "animal", "bird", "pet", "fruit", "coin"}
)
"""Stems of general terms, for things that have more specific words too."""
_MONEY = frozenset({"$", "dollar", "cost", "pay", "pric", "spend", "earn", "sell"})  # stems


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem of GSM8K."""

    problem_id: str
    question: str
    solution: str  # with calculations in double angle brackets, without the final line
    answer: str


class SolutionStep(NamedTuple):
    """A calculation, with its line of the solution."""

    expression: str
    result: float | None
    line: str
    end: int  # of the calculation in its line

    @property
    def is_product(self) -> bool:
        """Whether it multiplies or divides."""
        return re.search(r"[*/]", self.expression) is not None

    @property
    def literals(self) -> list[float]:
        """Numbers of the expression."""
        return _literals(self.expression)


class _StatedNumber(NamedTuple):
    """A number of the text, with the words around it."""

    number: float
    before: frozenset[str]
    after: frozenset[str]
    counts: frozenset[str]  # the first of the words after it; none for "5 more"
    is_rate: bool  # so many of each: "5 per box"
    more: frozenset[str]  # what else its clause says after it


def steps_of(solution: str) -> list[SolutionStep]:
    """List the calculations of a solution in order."""
    return [
        SolutionStep(found[1], parse_number(found[2]), line, found.end())
        for line in solution.splitlines()
        for found in CALCULATION.finditer(line)
    ]


def replacement_fault(problem: Problem, number: float) -> str:
    """Reason why a number cannot be replaced in the calculations; "" if it can.

    >>> cats = Problem(
    ...     problem_id="p",
    ...     question="Ann has 2 cats, Bo twice as many. And both?",
    ...     solution="<<2*2=4>>4, <<2+4=6>>6",
    ...     answer="6",
    ... )
    >>> replacement_fault(cats, 2)
    '2 stands 3 times in the calculations'
    """
    steps = steps_of(problem.solution)
    n, formatted = sum(step.literals.count(number) for step in steps), format_number(number)
    if n != 1:
        return f"{formatted} stands {n} times in the calculations"
    if number in {step.result for step in steps}:
        return f"{formatted} is also a result"
    if number in _UBIQUITOUS_NUMBERS or is_implied(number, problem):
        return f"{formatted} may be a number that goes without saying"
    return next(_path_gaps(problem, steps, number), "")


def is_implied(number: float, problem: Problem) -> bool:
    """Whether the words of a problem imply a number, as "week" implies 7."""
    return _has_hint(number, f"{problem.question} {problem.solution}")


def _has_hint(number: float, text: str) -> bool:
    words = _HINTS.get(number)
    return words is not None and words.search(text) is not None


def _path_gaps(problem: Problem, steps: list[SolutionStep], number: float) -> Iterator[str]:
    """Reasons why the path of a number from the text to the answer is incomplete."""
    problem = replace(problem, question=_NO_NUMBER.sub("", problem.question))
    stated = _stated_numbers(problem.question)
    if [one.number for one in stated].count(number) != 1:
        yield f"{format_number(number)} does not stand in the text once"
    if decides := _CONDITIONAL_WORDS.search(words_to_digits(problem.question)):
        yield f"another number may need another calculation: {decides[0]!r:.60}"
    yield from _part_conflicts(stated, number)
    yield from _number_limits(problem.question, stated, number)
    yield from _unused_text(problem, steps, stated, number)
    yield from _unbracketed_steps(problem, steps, stated)
    done: list[float] = []
    for at, step in enumerate(steps):
        yield from _source_faults(problem, step, done, stated, replaced=number)
        used = sum(later.literals.count(step.result or 0.0) for later in steps[at + 1 :])
        if used != int(at < len(steps) - 1):
            yield f"the result {step.expression} = {step.result} is used {used} times later"
        done.append(step.result or 0.0)


def _part_conflicts(stated: list[_StatedNumber], number: float) -> Iterator[str]:
    """Numbers of the text that a replacement of this one could contradict."""
    for mine in (one for one in stated if one.number == number):
        for one in (one for one in stated if one.number not in (1, number) and not one.is_rate):
            if one.counts & (mine.after | _GENERAL) or mine.counts & one.after:
                yield f"{format_number(number)} may be a part of"
                f" {format_number(one.number)}, or the whole"


def _number_limits(question: str, stated: list[_StatedNumber], number: float) -> Iterator[str]:
    """Other limits on a number: a calendar, or a list of the things it counts."""
    if any(one.counts & _TIMES for one in stated if one.number == number):
        yield f"{format_number(number)} is a length of time, which is limited"
    before = re.split(rf"\b{format_number(number)}\b", words_to_digits(question))[0]
    if 2 < number <= _count_list_members(before):
        yield f"a list may have {format_number(number)} members"


def _count_list_members(text: str) -> int:
    """Number of members of the list that a number after the text may count; 0 without a list.

    The list ends right before the number, or an article before the number refers back to it.

    >>> (
    ...     _count_list_members("Tim, Tom and Sam are "),
    ...     _count_list_members("Tim, Tom and Sam run. The "),
    ... )
    (3, 3)
    """
    lists = [_JOINT.split(words.rstrip(", ")) for words in _LIST_END.split(text)]
    if not _BACK_REFERENCE.search(text):
        lists = [parts for parts in lists[-1:] if _is_short(parts[-1])]
    runs = [
        1 + sum(1 for _ in run)
        for members in lists
        for short, run in groupby(members[1:], _is_short)
        if short
    ]
    return max(runs, default=0)


def _is_short(member: str) -> bool:
    return len(member.split()) <= _LONGEST_MEMBER


def _unused_text(
    problem: Problem, steps: list[SolutionStep], stated: list[_StatedNumber], number: float
) -> Iterator[str]:
    """Numbers and clauses of the text without a calculation: a replacement may contradict them."""
    used = {literal for step in steps for literal in step.literals}
    yield from (
        f"no step has {format_number(one.number)}" for one in stated if one.number not in used
    )
    matching = [one for one in stated if one.number == number]
    if more := next((one.more for one in matching if len(one.more) > _MAX_EXTRA_WORDS), None):
        yield f"its clause says more of {format_number(number)}: {', '.join(sorted(more))}"
    unit = frozenset().union(*(one.after for one in matching))
    *sentences, question_clauses = map(
        _CLAUSES.split, _SENTENCES.split(problem.question.strip(" .?!"))
    )
    facts = takewhile(lambda clause: not _QUESTION.match(clause), question_clauses[:-1])
    conditions = filter(_CONDITION.match, question_clauses)
    for clauses in [*sentences, [*facts, *conditions]]:
        sentence_numbers: list[float] = []
        for clause in filter(str.strip, clauses):
            relevant = (
                number in sentence_numbers or _ANAPHORA.search(clause) or unit & _stems(clause)
            )
            sentence_numbers += (clause_numbers := [one.number for one in _stated_numbers(clause)])
            if (
                relevant
                and not clause_numbers
                and not any(_has_hint(known, clause) for known in used)
            ):
                yield f"no step takes up {clause.strip()!r:.60}"


def _source_faults(
    problem: Problem,
    step: SolutionStep,
    done: list[float],
    stated: list[_StatedNumber],
    replaced: float,
) -> Iterator[str]:
    """Numbers of a step without a source, or with one that the step does not name."""
    for literal in step.literals:
        places = [one for one in stated if one.number == literal]
        if literal in done and not places:
            continue
        if not places and not _is_implied_factor(literal, problem, step):
            yield f"{format_number(literal)} in {step.expression} comes from nowhere"
        others = [one for one in stated if one not in places]
        near = _context_words(places, others, replaced=literal == replaced)
        if places and not near & _stems(step.line):
            yield f"the step {step.expression} does not say what {format_number(literal)} counts"
        if places and literal == replaced and not _is_factor(places[0], problem, step, stated):
            yield f"nothing says that {format_number(literal)} is a factor of {step.expression}"


def _is_factor(
    place: _StatedNumber, problem: Problem, step: SolutionStep, stated: list[_StatedNumber]
) -> bool:
    """Whether the text shows why a number is a factor: it, or another factor, is a rate.

    Sums need no rate. If another factor is one, or a word implies it ("week": 7), the result must
    count something other than the number does; only multipliers ("twice") keep what is counted.
    """
    if not step.is_product or place.is_rate:
        return True
    result = _RESULT.match(step.line, step.end)
    counted = _stems(_phrase(step.line[result.end() if result else step.end :]))
    others = [one for one in step.literals if one != place.number]
    rates = {one.number for one in stated if one.is_rate}
    usual = {one for one in others if _is_implied_factor(one, problem, step)}
    explained = usual or rates.intersection(others)
    return bool(usual & _MULTIPLIERS or (explained and not counted & place.after))


def _is_implied_factor(literal: float, problem: Problem, step: SolutionStep) -> bool:
    """Whether text and line of a step imply a factor; for multipliers, the text is enough."""
    hinted = step.is_product and _has_hint(literal, problem.question)
    return hinted and (literal in _MULTIPLIERS or _has_hint(literal, step.line))


def _context_words(
    places: list[_StatedNumber], others: list[_StatedNumber], *, replaced: bool
) -> frozenset[str]:
    """Words that distinguish a number of the text; for the replaced one, its unit."""
    if not replaced:
        return frozenset().union(*(one.before | one.after for one in places))
    elsewhere = frozenset().union(*(one.after for one in others if one.number != 1))
    return frozenset().union(*(one.after for one in places)) - elsewhere


def _unbracketed_steps(
    problem: Problem, steps: list[SolutionStep], stated: list[_StatedNumber]
) -> Iterator[str]:
    """Steps of the solution outside brackets, whose numbers would not change."""
    counted: Mapping[float, frozenset[str]] = {one.number: one.after for one in stated}
    results = {step.result for step in steps}
    for line in problem.solution.splitlines():
        words = words_to_digits(_without_calculations(line))
        if found := _UNBRACKETED_STEP.search(words):
            yield f"a step outside of the brackets: {found[0]!r:.60}"
        for place in _stated_numbers(words):
            known = place.number in results or place.after & counted.get(place.number, frozenset())
            if not known and not _has_hint(place.number, line):
                yield f"{format_number(place.number)} stands outside of the brackets: {words!r:.60}"


def _without_calculations(line: str) -> str:
    """A line without calculations, their written form and their results."""
    kept, end = [], 0
    for found in CALCULATION.finditer(line):
        before = line[end : found.start()]
        echo = _ECHO.search(before)
        redundant = echo is None or _literals(echo[0]) in ([], _literals(found[1]))
        kept.append(_ECHO.sub(" ", before) if redundant else before)
        result = _RESULT.match(line, found.end())
        end = result.end() if result else found.end()
    return " ".join([*kept, line[end:]])


def _literals(text: str) -> list[float]:
    return [float(found) for found in LITERAL.findall(text)]


def _stated_numbers(text: str) -> list[_StatedNumber]:
    digits = words_to_digits(text)
    return [
        _StatedNumber(
            float(found[0].replace(",", "")),
            _stems(_last_clause(digits[: found.start()])) | _money(digits, found.start()),
            _stems(after := _phrase(digits[found.end() :])),
            _stems("".join(after.split()[:1]) if not _MORE.match(digits, found.end()) else ""),
            _RATE_BEFORE.search(digits[: found.start()]) is not None
            or _RATE_AFTER.match(digits, found.end()) is not None,
            _stems(_CLAUSE_END.split(digits[found.end() :], maxsplit=1)[0]) - _stems(after),
        )
        for found in _NUMBER.finditer(digits)
    ]


def _phrase(text: str) -> str:
    """First content words after a number: its unit."""
    words = _CLAUSE_END.split(text, maxsplit=1)[0].split()[:_MAX_UNIT_WORDS]
    skipped = dropwhile(lambda word: _EMPTY.fullmatch(word.lower()), words)
    return " ".join(takewhile(lambda word: not _EMPTY.fullmatch(word.lower()), skipped))


def _last_clause(text: str) -> str:
    return " ".join(_CLAUSE_END.split(text)[-1].split()[-_MAX_UNIT_WORDS:])


def _money(text: str, at: int) -> frozenset[str]:
    return _MONEY if text[:at].endswith("$") else frozenset()


def _stems(text: str) -> frozenset[str]:
    r"""Content words without their endings.

    >>> sorted(_stems("the boxes of red apples"))
    ['appl', 'box', 'red']
    """
    words = Counter(word.lower() for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if not _EMPTY.fullmatch(word))


def _stem(word: str) -> str:
    single = re.sub(r"(?<=\w{3})(?<!s)s$", "", word)
    return re.sub(r"(?<=\w{3})(?:ie|es|ed|ing|e|y)$", "", single)
