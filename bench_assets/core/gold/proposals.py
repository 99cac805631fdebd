"""Proposed questions, the votes of solvers on their keys, and the decisions.

A construction proposes a question with its key. Three votes decide about it: the form, by which a
rule proves or recalculates the key, and two solvers, models with different weights that see the
question as published and never the key. People decide what stays open.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias

from bench_assets.core.reading.numbers import parse_quantity
from bench_assets.core.schema.chat import Image, Prompt, Response
from bench_assets.core.stats.rater_agreement import majority
from bench_assets.core.text.number_words import format_number

AnswerForm: TypeAlias = Literal["number", "letters", "blanks", "text"]
Decision: TypeAlias = Literal["accepted", "rejected", "open"]
Quorum: TypeAlias = Literal["all", "form and one"]
"""``all``: the form and both solvers; ``form and one``: the form and one solver, or both."""
Verdict: TypeAlias = Literal["right", "other", "contradictory", "unfit"]
Matches: TypeAlias = Callable[[str, str], bool]
"""Whether a line of an answer is that of the key."""

NONE = "none"
"""A solver's answer to a question without exactly one answer."""

_COLUMNS = ("solvers", "votes", "answers", "last_lines", "errors")
_ANSWER_FORMS = {
    "number": "the number",
    "letters": 'the letters of all right options, such as "AC"',
    "blanks": 'what belongs into the blanks, in order, separated by ";"',
    "text": "the answer",
}
_FINAL = re.compile(r"####[ \t]*(\S[^\n]*)")
_BETWEEN = re.compile(r"[\s,，、.。()（）*$]")
_NO_SIGN = re.compile(r"[\s$,*]|(?<=\d)\.$")


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
    answer_form: AnswerForm
    key: str  # a number; letters; a line for each blank; a text
    form: Literal["proven", "calculated", ""]  # what a rule says of the key; calculated: a vote
    why: str = ""  # the form that proves it, or the recalculated lines
    doubt: str = ""  # why people see it even if the votes accept it
    requested_by: str = ""  # an annotator, who decided already


class SolverVote(NamedTuple):
    """A solver's vote on the key of a proposal."""

    solver: str
    vote: Literal["yes", "no", "absent"]  # absent: an error, or no answer in the form asked for
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
    answer: str = ""  # the other one


def solver_prompt(proposal: Proposal) -> Prompt:
    """Ask for the answer; shows neither the key, nor the old answer, nor the rule."""
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
    final = _FINAL.findall(text)
    answer = final[-1].strip() if final and not response.error else ""
    is_none = answer.strip(" .*").casefold() == NONE
    lines = [NONE] if is_none else _read_lines(answer, proposal.answer_form)
    agrees = not is_none and _agree(lines, proposal.key.splitlines(), matches)
    return SolverVote(
        solver=solver,
        vote="absent" if not lines else "yes" if agrees else "no",
        answer="\n".join(lines),
        last_line=last_line,
        error=response.error,
    )


def same_value(line: str, key: str) -> bool:
    """Whether two lines have the same value, as exact fractions where both are numbers.

    >>> same_value("$1,200.0", "1200"), same_value("2/4", "0.5"), same_value("H2O", "h2o ")
    (True, True, True)
    """
    number, key_number = _to_number(line), _to_number(key)
    if number is not None and key_number is not None:
        return number == key_number
    return _BETWEEN.sub("", line).casefold() == _BETWEEN.sub("", key).casefold()


def decide(
    proposal: Proposal, votes: Sequence[SolverVote], quorum: Quorum, matches: Matches
) -> DecidedProposal:
    """Decide by the votes; without solvers, what the form proves is accepted."""
    columns: dict[str, Any] = {
        field.name: getattr(proposal, field.name) for field in fields(Proposal)
    }
    columns |= zip(_COLUMNS, zip(*votes, strict=True), strict=False)
    row = DecidedProposal(**columns, decision="open", by="")
    if proposal.requested_by:
        return replace(row, decision="accepted", by="people")
    n_yes = sum(vote.vote == "yes" for vote in votes)
    is_whole, by_form = n_yes == len(votes) > 0, bool(proposal.form)
    needed = (by_form and is_whole) if quorum == "all" else is_whole or (by_form and n_yes > 0)
    if needed or (not votes and proposal.form == "proven"):
        return replace(row, decision="accepted", by="solvers" if votes else "form")
    first, *later = [vote.answer.splitlines() for vote in votes] or [[]]
    is_denied = bool(votes) and all(vote.vote == "no" for vote in votes)
    if is_denied and all(_agree(first, lines, matches) for lines in later):
        reason = f"the solvers answer {', '.join(first)}"
        return replace(row, decision="rejected", by="solvers", reason=reason)
    return replace(row, reason="the votes differ" if votes else "no rule proves it")


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
    """Whether people decide it: accepted with a doubt, or open, and no vote is merely absent."""
    if row.decision == "accepted":
        return bool(row.doubt) and row.by != "people"
    return row.decision == "open" and ("no" in row.votes or "absent" not in row.votes)


def apply_verdicts(
    rows: Iterable[DecidedProposal], verdicts: Iterable[KeyVerdict]
) -> list[DecidedProposal]:
    """Apply the majority of people's verdicts on each proposal; a tie leaves it as it is."""
    by_id: dict[str, list[KeyVerdict]] = {}
    for verdict in verdicts:
        by_id.setdefault(verdict.proposal, []).append(verdict)
    return [_apply_verdicts(row, by_id.get(row.id, [])) for row in rows]


def _apply_verdicts(row: DecidedProposal, verdicts: Sequence[KeyVerdict]) -> DecidedProposal:
    verdict = majority(given.verdict for given in verdicts)
    if verdict is None or not (is_for_people(row) or row.decision == "accepted"):
        return row
    reasons = {
        "right": "",
        "other": "another answer",
        "contradictory": "it contradicts itself",
        "unfit": "not to be asked",
    }
    answers = sorted({given.answer for given in verdicts if given.verdict == verdict} - {""})
    reason = ": ".join(filter(None, (reasons[verdict], ", ".join(answers))))
    decision: Decision = "accepted" if verdict == "right" else "rejected"
    return replace(row, decision=decision, by="people", reason=reason)


def _read_lines(answer: str, form: AnswerForm) -> list[str]:
    """Lines of an answer; none if it is not in the form."""
    if form == "number":
        quantity = None if _to_number(answer) is not None else parse_quantity(answer)
        bare = format_number(quantity.value) if quantity else answer  # without its unit
        return [bare] if _to_number(bare) is not None else []
    if form == "letters":
        letters = _BETWEEN.sub("", answer)
        return ["".join(sorted(set(letters)))] if re.fullmatch("[A-Z]+", letters) else []
    return [line for line in map(str.strip, re.split("[;；\n]", answer)) if line]


def _agree(lines: Sequence[str], others: Sequence[str], matches: Matches) -> bool:
    return len(lines) == len(others) > 0 and all(map(matches, lines, others))


def _to_number(line: str) -> Fraction | None:
    """The exact value of a number; None for any other text."""
    try:
        return Fraction(_NO_SIGN.sub("", line))
    except (ValueError, ZeroDivisionError):
        return None
