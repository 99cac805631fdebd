"""Steps that have proposed questions solved twice, and the annotation task on open proposals.

A step tries the candidates for a question in order, at most three, until the votes accept one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial

from bench_assets.annotation.tasks import (
    AnnotationTask,
    Answer,
    Field,
    SourceTable,
    SuiteAnnotationTask,
    Unit,
    field_value,
)
from bench_assets.core.gold.proposals import (
    DecidedProposal,
    KeyVerdict,
    Matches,
    Proposal,
    Quorum,
    SolverVote,
    Verdict,
    decide,
    drop_spare,
    is_for_people,
    read_vote,
    same_value,
    solver_prompt,
)
from bench_assets.core.schema.chat import Request, Response
from bench_assets.core.schema.measured_figures import DrawnUnit

MAX_CANDIDATES = 3
"""Candidates for a question that solvers are asked about."""

_VERDICTS: Mapping[str, Verdict] = {
    "the key is right": "right",
    "another answer is right": "other",
    "the question contradicts itself": "contradictory",
    "the key is right, but the question should not be asked": "unfit",
}
_INSTRUCTIONS = """\
A rule or a model made this question from another one, and found its key. Solve the question, with \
its image or the description of a planned image. Changed words are in « ». The key is right if it \
is the only answer, and the question does not contradict itself. A question should not be asked if \
it does not need the image, or if an option stands out by its length or wording."""
_TOKEN = re.compile(r"[A-Za-z0-9]+|.", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldStep:
    """The step of a suite that proposes questions with their keys, and has them solved.

    Attributes:
        candidates: From the tables of ``reads``: for each question, its candidates in order.
    """

    folder: str  # of its tables: "journeybench/mcot"
    reads: Mapping[str, SourceTable]
    candidates: Callable[..., Sequence[Sequence[Proposal]]]
    quorum: Quorum
    matches: Matches = same_value

    @property
    def suite(self) -> str:
        """The suite it belongs to."""
        return self.folder.split("/")[0]

    def vote(
        self,
        candidates: Sequence[Sequence[Proposal]],
        solvers: Sequence[str],
        ask: Callable[[str, list[Request]], list[Response]],
    ) -> list[DecidedProposal]:
        """Decide on each question's candidates in order, at most three, until one is accepted.

        Earlier candidates that the accepted one makes unnecessary are rejected.

        Args:
            candidates: For each question, its candidates in order.
            solvers: Two models; (): only the first candidates are decided, by their form.
            ask: Sends requests to a solver.
        """
        all_decided: list[DecidedProposal] = []
        open_groups = [group for group in candidates if group]
        for round_index in range(MAX_CANDIDATES if solvers else 1):
            proposals = [group[round_index] for group in open_groups if round_index < len(group)]
            decided = self._vote_once(proposals, solvers, ask)
            accepted = {row.question_id for row in decided if row.decision == "accepted"}
            open_groups = [group for group in open_groups if group[0].question_id not in accepted]
            all_decided += decided
        return drop_spare(all_decided)

    def _vote_once(
        self,
        proposals: Sequence[Proposal],
        solvers: Sequence[str],
        ask: Callable[[str, list[Request]], list[Response]],
    ) -> list[DecidedProposal]:
        """Decide on one candidate of each question; what an annotator requested is not solved."""
        solvable = [row for row in proposals if row.answer_form != "text" and not row.requested_by]
        requests = [Request(prompt=solver_prompt(row), name=row.id) for row in solvable]
        votes: dict[str, list[SolverVote]] = {row.id: [] for row in proposals}
        if solvable:
            for solver in solvers:
                for row, response in zip(solvable, ask(solver, requests), strict=True):
                    votes[row.id].append(read_vote(row, response, solver, self.matches))
        return [decide(row, votes[row.id], self.quorum, self.matches) for row in proposals]


def proposal_task(step: GoldStep) -> SuiteAnnotationTask:
    """Build the annotation task on the open proposals of a step, and on drawn accepted ones."""
    task = AnnotationTask(
        name=f"{step.suite}/proposals",
        title=f"Is the key of a proposed question right? ({step.suite})",
        instructions=_INSTRUCTIONS,
        fields=(
            Field(name="verdict", kind="choice", label="The key", choices=tuple(_VERDICTS)),
            Field(name="answer", kind="text", label="The other answer", required=False),
        ),
    )
    return SuiteAnnotationTask(
        task=task,
        reads={"proposals": SourceTable(f"{step.folder}/proposals", DecidedProposal)},
        units=partial(_proposal_units, task.name),
        row=KeyVerdict,
        to_rows=_key_verdicts,
        is_drawn=True,
    )


def _proposal_units(
    task: str, proposals: Sequence[DecidedProposal], drawn: Sequence[DrawnUnit] = ()
) -> list[Unit]:
    """Build the units of the proposals that people decide, then of the drawn accepted ones."""
    drawn_ids = {row.unit for row in drawn}
    accepted = [
        row
        for row in proposals
        if row.decision == "accepted" and row.id in drawn_ids and not is_for_people(row)
    ]
    return [
        Unit(
            task=task,
            unit_id=row.id,
            shown=_shown_fields(row),
            images={f"Image {number}": sha for number, sha in enumerate(row.images, 1)},
        )
        for row in [*filter(is_for_people, proposals), *accepted]
    ]


def _shown_fields(row: DecidedProposal) -> dict[str, str]:
    """Texts of a proposal by their headings, without empty ones."""
    fields = {
        "Question before": row.before,
        "Question": mark_changes(row.before, row.question) if row.before else row.question,
        "The image will show": row.shows,
        "Key": "\n".join(filter(None, (row.key, row.why))),
        "Doubtful": row.doubt,
    }
    fields |= {f"Solver {n}": line for n, line in enumerate(row.last_lines, 1)}
    return {name: text for name, text in fields.items() if text}


def mark_changes(before: str, after: str) -> str:
    """Mark the words of a text that replace or extend those of an earlier one, and deletions.

    >>> mark_changes("Ann ate 3 pies.", "Ann ate the pies.")
    'Ann ate «the» pies.'
    >>> mark_changes("Ann ate 3 pies.", "Ann ate pies.")
    'Ann ate «»pies.'
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    parts = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for operation, _, _, start, end in matcher.get_opcodes():
        text = "".join(new[start:end])
        words = text.strip()
        parts.append(text if operation == "equal" else text.replace(words, f"«{words}»", 1))
    return "".join(parts)


def _key_verdicts(answers: Sequence[Answer]) -> list[KeyVerdict]:
    return [
        KeyVerdict(
            proposal=answer.unit_id,
            person=answer.person,
            verdict=_VERDICTS[field_value(answer, "verdict")],
            answer=field_value(answer, "answer"),
        )
        for answer in answers
    ]
