"""Replies, verdicts and mistakes with their pictures, small enough to lie in an event of the UI."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import dagster as dg

from bench_assets.core.rows import Judgement, Prediction, Question, Score
from resources.pictures.images import ImageStore
from resources.pictures.previews import Page, options_of, spread

_ROWS = 5
_ASKED = ["id", "pictures", "question", "options", "right", "reply"]
_Identity: TypeAlias = tuple[str, str, int]


def replies_preview(
    questions: Iterable[Question], predictions: Iterable[Prediction], images: ImageStore
) -> dict[str, dg.MetadataValue]:
    """Show replies spread evenly over the table, each beside what was asked and what is right."""
    page = Page(images, _ASKED)
    asked = {question.question_id: question for question in questions}
    for said in spread([row for row in predictions if row.question_id in asked], _ROWS):
        _add(page, asked[said.question_id], said)
    return page.shown("replies")


def verdicts_preview(
    questions: Iterable[Question],
    predictions: Iterable[Prediction],
    judgements: Iterable[Judgement],
    images: ImageStore,
) -> dict[str, dg.MetadataValue]:
    """Show what the judge said of replies spread evenly over the table."""
    page = Page(images, [*_ASKED, "verdict", "the judge's words"])
    asked = {question.question_id: question for question in questions}
    about = _about(judgements)
    judged = [row for row in predictions if row.question_id in asked and _identity(row) in about]
    for said in spread(judged, _ROWS):
        rows = about[_identity(said)]
        words = " / ".join(dict.fromkeys(row.error or row.reply for row in rows))
        _add(page, asked[said.question_id], said, _word(rows), words)
    return page.shown("verdicts")


def mistakes_preview(
    questions: Iterable[Question],
    predictions: Iterable[Prediction],
    judgements: Iterable[Judgement],
    scores: Iterable[Score],
    images: ImageStore,
    n: int = _ROWS,
) -> dict[str, dg.MetadataValue]:
    """Show replies without all of their points: how each was read, what was said of it, and why.

    Nothing where there is none.
    """
    page = Page(images, [*_ASKED, "read as", "verdict", "points", "why"])
    asked = {question.question_id: question for question in questions}
    replies = {_identity(row): row for row in predictions}
    about = _about(judgements)
    wrong = [
        score
        for score in scores
        if score.points is not None and score.points < score.max_points
        if score.question_id in asked and _identity(score) in replies
    ]
    for score in spread(wrong, n):
        rows = about.get(_identity(score), [])
        points = f"{score.points:.3g} of {score.max_points:.3g}"
        said = replies[_identity(score)]
        read = " / ".join(score.answer)
        _add(page, asked[score.question_id], said, read, _word(rows), points, score.note)
    return page.shown("mistakes")


def _add(page: Page, question: Question, said: Prediction, *more: str) -> None:
    draw = f", draw {said.sample}" if said.sample else ""
    text = f"{question.text}\n{question.context}"
    if question.text in question.context:  # as in BLINK, where it is the whole prompt
        text = question.context
    reply = said.error or said.no_answer or said.text or ", ".join(said.ranking)
    right = " / ".join(question.answer)
    name = f"{question.question_id}{draw}"
    page.add(name, question.images, [text, options_of(question), right, reply, *more])


def _about(judgements: Iterable[Judgement]) -> Mapping[_Identity, Sequence[Judgement]]:
    found: dict[_Identity, list[Judgement]] = defaultdict(list)
    for row in judgements:
        found[_identity(row)].append(row)
    return dict(found)


def _word(rows: Iterable[Judgement]) -> str:
    """What the judge decided, criterion by criterion; its own word where it has one."""
    plain = {True: "yes", False: "no", None: "unread"}
    return ", ".join(f"{row.criterion}: {row.value or plain[row.verdict]}" for row in rows)


def _identity(row: Prediction | Judgement | Score) -> _Identity:
    return row.question_id, row.condition, row.sample
