"""Previews of questions, responses, verdicts and mistakes with images, as metadata in the UI."""

import base64
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TypeAlias, TypeVar

import dagster as dg

from bench_assets.core.reading.choices import lettered
from bench_assets.core.schema.rows import Judgement, Prediction, Question, Score
from bench_assets.core.text.escaping import escape_markdown
from bench_resources.images.store import ImageStore

Row = TypeVar("Row")

_SIDE = 120  # px; six thumbnails stay under 40 KB, and metadata is kept for every materialization
_IMAGES = 80_000  # the most characters of all images of a page
_IMAGES_OF_ONE = 8  # the most images of a question
_TEXT = 500  # the most characters of a text
_TEXTS = 100_000  # the most characters of all texts of a page; an escaped character counts as five


class PreviewTable:
    """A Markdown table of limited size, with thumbnails as data URLs and escaped texts."""

    def __init__(self, image_store: ImageStore, columns: Sequence[str]) -> None:
        """Begin a table with these columns; the second is for images."""
        self._images = image_store
        self._left, self._room = _IMAGES, _TEXTS
        self._head = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
        self._lines: list[str] = []

    def add(self, name: str, images: Sequence[str], texts: Sequence[str]) -> None:
        """Add a line: its name, the digests of its images, and the other cells."""
        thumbnails = [self._thumbnail(digest) for digest in images[:_IMAGES_OF_ONE]]
        if len(images) > _IMAGES_OF_ONE:
            thumbnails.append(f"(and {len(images) - _IMAGES_OF_ONE} more)")
        cells = [self._text(name), " ".join(thumbnails), *map(self._text, texts)]
        self._lines.append(f"| {' | '.join(cells)} |")

    def shown(self, name: str) -> dict[str, dg.MetadataValue]:
        """Metadata with the table under a name; {} without lines."""
        written = "\n".join([*self._head, *self._lines])
        return {name: dg.MetadataValue.md(written)} if self._lines else {}

    def _thumbnail(self, digest: str) -> str:
        if self._left <= 0:
            return "(not shown)"
        thumbnail = _thumbnail(digest, self._images)
        self._left -= len(thumbnail)
        return thumbnail

    def _text(self, text: str) -> str:
        escaped = escape_markdown(text if len(text) <= _TEXT else f"{text[:_TEXT]} …")
        if len(escaped) > self._room:
            return "(not shown)"
        self._room -= len(escaped)
        return escaped


def question_preview(
    questions: Sequence[Question], image_store: ImageStore
) -> dict[str, dg.MetadataValue]:
    """Preview six questions at even intervals of the table, with images."""
    page = PreviewTable(image_store, ["id", "images", "context", "question", "options", "answer"])
    for question in sample_evenly(questions, 6):
        texts = [question.context, question.text, options_of(question)]
        page.add(question.question_id, question.images, [*texts, " / ".join(question.answer)])
    return page.shown("questions")


def options_of(question: Question) -> str:
    """The lettered options of a question; "" if it has none."""
    if question.kind not in ("choice", "choices"):
        return ""
    return lettered(question.options)


def sample_evenly(rows: Sequence[Row], n: int) -> Sequence[Row]:
    """Up to ``n`` rows, spread evenly.

    >>> sample_evenly(range(11), 4)
    [0, 2, 5, 8]
    """
    n = min(n, len(rows))
    return [rows[len(rows) * k // n] for k in range(n)]


def _thumbnail(digest: str, image_store: ImageStore) -> str:
    image = image_store.open_if_whole(digest)
    if image is None:
        return "(cannot be shown)"
    image.thumbnail((_SIDE, _SIDE))
    data = io.BytesIO()
    image.save(data, "JPEG", quality=70)
    return f"![image](data:image/jpeg;base64,{base64.b64encode(data.getvalue()).decode()})"


_ROWS = 5
_COLUMNS = ["id", "images", "question", "options", "right", "response"]
_Identity: TypeAlias = tuple[str, str, int]
_Row = TypeVar("_Row", Prediction, Judgement, Score)


def responses_preview(
    questions: Sequence[Question], predictions: Sequence[Prediction], image_store: ImageStore
) -> dict[str, dg.MetadataValue]:
    """Preview responses at even intervals of the table, with question and answer."""
    page = PreviewTable(image_store, _COLUMNS)
    sampled = sample_evenly(_rows_on(questions, predictions), _ROWS)
    by_id = _questions_of(questions, sampled)
    for response in sampled:
        _add_response(page, by_id[response.question_id], response)
    return page.shown("responses")


def verdicts_preview(
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    image_store: ImageStore,
) -> dict[str, dg.MetadataValue]:
    """Preview judgements of responses at even intervals of the table."""
    page = PreviewTable(image_store, [*_COLUMNS, "verdict", "the judge's words"])
    judged = set(map(_identity, judgements))
    known = [row for row in _rows_on(questions, predictions) if _identity(row) in judged]
    responses = sample_evenly(known, _ROWS)
    by_id, by_response = _questions_of(questions, responses), _rows_about(judgements, responses)
    for response in responses:
        rows = by_response[_identity(response)]
        words = " / ".join(dict.fromkeys(row.error or row.response for row in rows))
        _add_response(page, by_id[response.question_id], response, _verdict_text(rows), words)
    return page.shown("verdicts")


def mistakes_preview(
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement],
    scores: Sequence[Score],
    image_store: ImageStore,
    n: int = _ROWS,
) -> dict[str, dg.MetadataValue]:
    """Preview responses without full points: parsed answer, verdict and reason; {} without any."""
    page = PreviewTable(image_store, [*_COLUMNS, "read as", "verdict", "points", "why"])
    known = _rows_on(questions, scores)
    wrong = [row for row in known if row.points is not None and row.points < row.max_points]
    sampled = sample_evenly(wrong, n)
    by_id, by_response = _questions_of(questions, sampled), _rows_about(judgements, sampled)
    responses = _rows_about(predictions, sampled)
    for score in sampled:
        rows = by_response.get(_identity(score), [])
        points_text = f"{score.points:.3g} of {score.max_points:.3g}"
        for response in responses.get(_identity(score), [])[-1:]:
            read = " / ".join(score.answer)
            _add_response(
                page,
                by_id[score.question_id],
                response,
                read,
                _verdict_text(rows),
                points_text,
                score.note,
            )
    return page.shown("mistakes")


def _rows_on(questions: Sequence[Question], rows: Sequence[_Row]) -> list[_Row]:
    """Rows whose question exists."""
    question_ids = {question.question_id for question in questions}
    return [row for row in rows if row.question_id in question_ids]


def _questions_of(questions: Sequence[Question], rows: Sequence[_Row]) -> dict[str, Question]:
    """The questions of a few rows."""
    wanted = {row.question_id for row in rows}
    return {
        question.question_id: question for question in questions if question.question_id in wanted
    }


def _rows_about(
    rows: Sequence[_Row], few: Sequence[Prediction] | Sequence[Score]
) -> dict[_Identity, list[_Row]]:
    """Rows of a table about the same responses as a few."""
    wanted, rows_read = set(map(_identity, few)), defaultdict(list)
    for row in rows:
        if (identity := _identity(row)) in wanted:
            rows_read[identity].append(row)
    return dict(rows_read)


def _add_response(
    page: PreviewTable, question: Question, prediction: Prediction, *more: str
) -> None:
    draw = f", draw {prediction.sample}" if prediction.sample else ""
    text = f"{question.text}\n{question.context}"
    if question.text in question.context:  # as in BLINK, where it is the whole prompt
        text = question.context
    response = (
        prediction.error or prediction.no_answer or prediction.text or ", ".join(prediction.ranking)
    )
    right = " / ".join(question.answer)
    name = f"{question.question_id}{draw}"
    page.add(name, question.images, [text, options_of(question), right, response, *more])


def _verdict_text(rows: Iterable[Judgement]) -> str:
    """Verdicts by criterion; the judge's own value if it has one."""
    plain = {True: "yes", False: "no", None: "unread"}
    return ", ".join(f"{row.criterion}: {row.value or plain[row.verdict]}" for row in rows)


def _identity(row: Prediction | Judgement | Score) -> _Identity:
    return row.question_id, row.condition, row.sample
