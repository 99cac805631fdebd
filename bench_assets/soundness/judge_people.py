"""How far judges agree with the judge named people: verdicts that people gave in a form.

People saw a sample of replies and neither the model nor what its judge said; the figures are those
that ``bench check-judge --labels`` makes of a file.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from bench_assets.core.rows import Judgement, Prediction, Question
from bench_assets.core.signature import short
from bench_assets.people.replies import by_reply
from bench_assets.people.verdicts import PEOPLE, ReplyVerdict, decided
from bench_assets.soundness.judge_figures import JudgeFigure
from bench_assets.soundness.judge_labels import PersonsLabel, beside_people
from bench_assets.soundness.judge_summary import Judged, figures_of_labels
from bench_assets.task import Task


class Replies(NamedTuple):
    """What one model said, and what judges say of it."""

    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement]


def labels_of(
    verdicts: Iterable[ReplyVerdict], predictions: Iterable[Prediction]
) -> list[PersonsLabel]:
    """Give what most people say of a reply to every model that said it, word for word.

    Replies about which they are divided, or that most cannot judge, have no label.
    """
    truth = decided(verdicts)
    return [
        PersonsLabel(
            question_id=row.question_id, correct=truth[key], model=row.model, annotator=PEOPLE
        )
        for key, rows in by_reply(predictions).items()
        if key in truth
        for row in rows
    ]


def figures_of_people(
    task: Task,
    questions: Mapping[str, Question],
    replies: Sequence[Replies],
    verdicts: Sequence[ReplyVerdict],
    at: str,
) -> list[JudgeFigure]:
    """Measure every judge of a task's replies by people's verdicts.

    Args:
        task: Whose replies they are.
        questions: By id.
        replies: Of each model.
        verdicts: Of people.
        at: When the last of them was given.
    """
    pairs: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    rows: dict[str, list[Judgement]] = defaultdict(list)
    for said, judged in replies:
        labels = labels_of(verdicts, said)
        for judge in dict.fromkeys(row.judge for row in judged):
            own = [row for row in judged if row.judge == judge]
            rows[judge] += own
            pairs[judge] += beside_people(task, questions, said, own, labels)
    return [
        figure
        for judge, beside in pairs.items()
        if beside
        for figure in figures_of_labels(beside, _who(task, judge, rows[judge], at))
    ]


def _who(task: Task, judge: str, rows: Sequence[Judgement], at: str) -> Judged:
    shown = sorted({row.prompt_sha256 for row in rows} - {""})
    return Judged(
        task=task.name,
        judge=judge,
        setup="+".join(sorted({row.setup for row in rows})),
        prompts=short(sha256("\n".join(shown).encode()).hexdigest()),
        at=at,
    )
