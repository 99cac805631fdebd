"""Proposed questions, the votes of solvers on their keys, and the decisions.

A construction proposes a question with its key. Three votes decide about it: the form, by which a
rule proves or recalculates the key, and two solvers, models with different weights that see the
question as published and never the key. People decide what stays open.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.schema.chat import Image, Prompt, Response
from bench_assets.core.stats.rater_agreement import majority
from bench_assets.core.text.number_words import format_number

KeyForm: TypeAlias = Literal["number", "letters", "blanks", "text"]
Decision: TypeAlias = Literal["accepted", "rejected", "open"]
Quorum: TypeAlias = Literal["all", "form and one"]
"""``all``: the form and both solvers; ``form and one``: the form and one solver, or both."""
Vote: TypeAlias = Literal["yes", "no", "absent"]  # absent: an error, or an answer in another form
Verdict: TypeAlias = Literal["right", "other", "contradictory", "unfit"]
Matches: TypeAlias = Callable[[str, str], bool]
"""Whether a line of an answer has the value of the key's line."""

NONE = "none"
"""A solver's answer to a question without exactly one answer."""

_ANSWER_FORMS = {
    "number": "the number",
    "letters": 'the letters of all right options, such as "AC"',
    "blanks": 'what belongs into the blanks, in order, separated by ";"',
    "text": "the answer",
}
_FINAL = re.compile(r"####[ \t]*(\S[^\n]*)")
_SEPARATOR = re.compile(r"[\s,，、.。()（）*$]")
_NUMBER_MARKUP = re.compile(r"[\s$,*]|(?<=\d)\.$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A proposed question with its key."""

    id: str  # one key of one question: "gzsx_1_0/negate"
    question_id: str  # what it is made from; its candidates are tried in order
    construction: str  # a line of the funnel: "negate"
    before: str = ""  # the question that it changes, with its answer
    question: str  # as published, with its options
    shows: str = ""  # what its image will show, where it is not made yet
    images: tuple[str, ...] = ()  # SHA-256 of those that are made
    answer_form: KeyForm
    key: str  # a number; letters; a line for each blank; a text
    form: Literal["proven", "calculated", ""]  # what a rule says of the key; calculated: a vote
    why: str = ""  # the form that proves it, or the recalculated lines
    doubt: str = ""  # why people see it even if the votes accept it
    requested_by: str = ""  # an annotator, who decided already


class SolverVote(NamedTuple):
    """A solver's vote on the key of a proposal."""

    solver: str
    vote: Vote
    answer: str = ""  # "none": there is none, or several
    last_line: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedProposal(Proposal):
    """A proposal with all its votes; those of solvers are columns in their order."""

    solvers: tuple[str, ...] = ()
    votes: tuple[str, ...] = ()  # "yes", "no" or "absent"
    answers: tuple[str, ...] = ()
    last_lines: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    decision: Decision
    by: Literal["form", "solvers", "people", ""]  # "": nobody yet
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyVerdict:
    """A person's verdict on the key of a proposal."""

    proposal: str
    person: str
    verdict: Verdict
    answer: str = ""  # the right one, where the verdict is "other"


def solver_prompt(proposal: Proposal) -> Prompt:
    """Build the prompt for the answer; it has neither the key, nor the old answer, nor the rule."""
    images = [Image(sha256) for sha256 in proposal.images]
    shows = f"The image shows: {proposal.shows}\n\n" if proposal.shows else ""
    form = _ANSWER_FORMS[proposal.answer_form]
    ending = (
        f'Think step by step. End with the line "#### " and {form}, or with "#### {NONE}" if the'
        " question contradicts itself, has no answer, or more than one."
    )
    return Prompt.of(*images, f"{shows}{proposal.question}\n\n{ending}")


def read_vote(proposal: Proposal, response: Response, solver: str, matches: Matches) -> SolverVote:
    """Read a solver's vote from its response; an answer in another form is absent."""
    text = response.parts.answer.strip()
    last_line = text.splitlines()[-1].strip() if text else ""
    answers = _FINAL.findall(text)
    answer = answers[-1].strip() if answers and not response.error else ""
    is_none = answer.strip(" .*").casefold() == NONE
    lines = [NONE] if is_none else _read_lines(answer, proposal.answer_form)
    vote: Vote = "no"
    if not lines:
        vote = "absent"
    elif not is_none and _agree(lines, proposal.key.splitlines(), matches):
        vote = "yes"
    answer = "\n".join(lines)
    return SolverVote(solver, vote, answer=answer, last_line=last_line, error=response.error)


def same_value(line: str, key: str) -> bool:
    """Whether two lines have the same value, as exact fractions where both are numbers.

    >>> same_value("$1,200.0", "1200"), same_value("2/4", "0.5"), same_value("H2O", "h2o ")
    (True, True, True)
    """
    number, key_number = _to_number(line), _to_number(key)
    if number is not None and key_number is not None:
        return number == key_number
    return _SEPARATOR.sub("", line).casefold() == _SEPARATOR.sub("", key).casefold()


def decide(
    proposal: Proposal, votes: Sequence[SolverVote], quorum: Quorum, matches: Matches
) -> DecidedProposal:
    """Decide by the votes; without solvers, what the form proves is accepted.

    What an annotator requested is accepted in any case. A key is accepted by a quorum of solvers,
    rejected if all give the same other answer, and otherwise open.
    """
    row = DecidedProposal(
        **asdict(proposal),
        solvers=tuple(vote.solver for vote in votes),
        votes=tuple(vote.vote for vote in votes),
        answers=tuple(vote.answer for vote in votes),
        last_lines=tuple(vote.last_line for vote in votes),
        errors=tuple(vote.error for vote in votes),
        decision="open",
        by="",
    )
    if proposal.requested_by:
        return replace(row, decision="accepted", by="people")
    if not votes and proposal.form == "proven":
        return replace(row, decision="accepted", by="form")
    if not votes:
        return replace(row, reason="no rule proves it")
    if _has_quorum(row, quorum):
        return replace(row, decision="accepted", by="solvers")
    first, *later = [answer.splitlines() for answer in row.answers]
    is_denied = all(vote == "no" for vote in row.votes)
    if is_denied and all(_agree(first, lines, matches) for lines in later):
        reason = f"the solvers answer {', '.join(first)}"
        return replace(row, decision="rejected", by="solvers", reason=reason)
    return replace(row, reason="the votes differ")


def _has_quorum(row: DecidedProposal, quorum: Quorum) -> bool:
    """Whether enough votes of solvers, and the form, are for the key."""
    is_unanimous = all(vote == "yes" for vote in row.votes)
    if quorum == "all":
        return is_unanimous and bool(row.form)
    return is_unanimous or (bool(row.form) and "yes" in row.votes)


def drop_spare(rows: Sequence[DecidedProposal]) -> list[DecidedProposal]:
    """Reject what is open although another candidate for its question is accepted."""
    accepted = {row.question_id: row.id for row in rows if row.decision == "accepted"}
    return [
        replace(row, decision="rejected", reason=f"{accepted[row.question_id]} is accepted")
        if row.decision == "open" and row.question_id in accepted
        else row
        for row in rows
    ]


def is_for_people(row: DecidedProposal) -> bool:
    """Whether people decide it: accepted with a doubt, or open for another reason than absence."""
    if row.decision == "accepted":
        return bool(row.doubt) and row.by != "people"
    return row.decision == "open" and ("no" in row.votes or "absent" not in row.votes)


def apply_verdicts(
    rows: Iterable[DecidedProposal], verdicts: Iterable[KeyVerdict]
) -> list[DecidedProposal]:
    """Apply the majority of people's verdicts on accepted proposals and on those for people.

    Without a majority, a proposal stays as it is.
    """
    by_id: dict[str, list[KeyVerdict]] = {}
    for verdict in verdicts:
        by_id.setdefault(verdict.proposal, []).append(verdict)
    return [_apply_majority(row, by_id.get(row.id, [])) for row in rows]


def _apply_majority(row: DecidedProposal, verdicts: Sequence[KeyVerdict]) -> DecidedProposal:
    verdict = majority(key_verdict.verdict for key_verdict in verdicts)
    if verdict is None or not (is_for_people(row) or row.decision == "accepted"):
        return row
    reasons = {
        "right": "",
        "other": "another answer",
        "contradictory": "it contradicts itself",
        "unfit": "not to be asked",
    }
    answers = {key_verdict.answer for key_verdict in verdicts if key_verdict.verdict == verdict}
    other_answers = ", ".join(sorted(answers - {""}))
    reason = ": ".join(filter(None, (reasons[verdict], other_answers)))
    decision: Decision = "accepted" if verdict == "right" else "rejected"
    return replace(row, decision=decision, by="people", reason=reason)


def _read_lines(answer: str, form: KeyForm) -> list[str]:
    """Lines of an answer; none if it is not in the form."""
    if form == "number":
        if _to_number(answer) is not None:
            return [answer]
        quantity = parse_quantity(answer)
        number = format_number(quantity.value) if quantity else ""  # without its unit
        return [number] if _to_number(number) is not None else []
    if form == "letters":
        letters = _SEPARATOR.sub("", answer)
        return ["".join(sorted(set(letters)))] if re.fullmatch("[A-Z]+", letters) else []
    return [line for line in map(str.strip, re.split("[;；\n]", answer)) if line]


def _agree(lines: Sequence[str], other_lines: Sequence[str], matches: Matches) -> bool:
    """Whether two answers have the same lines, at least one."""
    return len(lines) == len(other_lines) > 0 and all(map(matches, lines, other_lines))


def _to_number(line: str) -> Fraction | None:
    """The exact value of a number; None for any other text."""
    try:
        return Fraction(_NUMBER_MARKUP.sub("", line))
    except (ValueError, ZeroDivisionError):
        return None
