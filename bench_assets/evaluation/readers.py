"""Readers: models that look again at responses whose answer no rule reads.

A reader is trusted if it finds no answer where there is none: in responses to other questions, and
in responses that are cut in half (the null test, once for a reader and a task).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import islice
from math import floor
from typing import NamedTuple

from bench_assets.core.judging.second_look import (
    NONE,
    READER,
    AnswerForm,
    look_again,
    prompts_digest,
    reader_name,
)
from bench_assets.core.judging.verdict_requests import VerdictRequest
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.elicitation import is_elicited
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.measured_figures import NULL_FOREIGN, NULL_HALVED, JudgeFigure
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.core.schema.signature import format_judge_setup, short_digest
from bench_assets.core.stats.means import share_interval
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.outcomes import Accepted, accept_refusals
from bench_assets.evaluation.runner import OpenModel, Verdicts, with_setup
from bench_assets.evaluation.task import AnsweredQuestion, Task

MIN_NONE_SHARE = 0.9
"""Share of the responses without an answer in which a trusted reader finds none."""

NULL_RESPONSES = {NULL_FOREIGN: "responses to other questions", NULL_HALVED: "halved responses"}
"""What the figures of a null test are about."""

_MAX_NULL_LOOKS = 50  # responses of each kind in a null test
_MIN_NULL_LOOKS = 10  # responses of each kind in a null test; fewer show nothing
_MAX_FOREIGN_TRIES = 20  # questions that a response is tried with


class _ReadableResponse(NamedTuple):
    """A response whose answer has a form, so that a reader can find it."""

    pair: AnsweredQuestion
    form: AnswerForm

    @property
    def is_stated(self) -> bool:
        """Whether the response states an answer in the form."""
        return self.form.is_stated(self.pair.prediction.text)


def unread_responses(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> list[VerdictRequest]:
    """Make requests to look again at the readable responses that state no answer in their form."""
    return [
        readable.form.look(*readable.pair, readable.pair.prediction.text)
        for readable in _readable_responses(task, questions, predictions)
        if not readable.is_stated
    ]


def ask_reader(looks: Sequence[VerdictRequest], model: ChatModel, name: str) -> list[Judgement]:
    """Look again at responses; ``name`` is the reader's name in the judgements.

    Raises:
        ModelError: If the reader cannot be asked.
    """
    return [replace(row, judge=name) for rows in look_again(looks, model) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class NullTest:
    """The null test of a reader on a task, with the figures of earlier ones."""

    judge: str  # the reader's name in judgements
    setup: str = ""
    earlier_figures: Callable[[], Sequence[JudgeFigure]] = lambda: ()
    record: Callable[[Sequence[JudgeFigure]], object] = lambda figures: None

    def require(
        self,
        task: Task,
        questions: Sequence[Question],
        predictions: Sequence[Prediction],
        model: ChatModel,
    ) -> None:
        """Test a reader and record the figures, unless it was tested before.

        Raises:
            ModelError: If it too often finds an answer where there is none, or cannot be asked.
        """
        digest = short_digest(prompts_digest())
        test_key = (task.name, self.judge, self.setup, digest)
        figures = [
            row
            for row in self.earlier_figures()
            if row.figure in NULL_RESPONSES
            and (row.task, row.judge, row.setup, row.prompts) == test_key
        ]
        if not figures:
            figures = self._measure(task, questions, predictions, model, digest)
            self.record(figures)
        for figure in figures:
            if figure.value < MIN_NONE_SHARE:
                n_allowed = floor((1 - MIN_NONE_SHARE) * figure.n + 1e-9)  # but for rounding errors
                raise ModelError(
                    f"{task.name}: {self.judge} is not trusted: it finds an answer in"
                    f" {round((1 - figure.value) * figure.n)} of {figure.n}"
                    f" {NULL_RESPONSES[figure.figure]}"
                    f' (at most {n_allowed}). Name another reader, or reader = "rules" for none'
                )

    def _measure(
        self,
        task: Task,
        questions: Sequence[Question],
        predictions: Sequence[Prediction],
        model: ChatModel,
        digest: str,
    ) -> list[JudgeFigure]:
        """Measure the share of responses of each kind in which the reader finds no answer.

        All are read in one call. A kind with few replies is left out.
        """
        drawn = null_looks(task, questions, predictions)
        looks = [(figure, look) for figure, of_kind in drawn.items() for look in of_kind]
        rows = look_again([look for _, look in looks], model)
        replies_by_figure: dict[str, list[str]] = {figure: [] for figure in drawn}
        for (figure, _), (judgement, *_) in zip(looks, rows, strict=True):
            if not judgement.error:
                replies_by_figure[figure].append(judgement.value)
        measured_at = datetime.now(UTC).isoformat(timespec="seconds")
        figures: list[JudgeFigure] = []
        for figure, replies in replies_by_figure.items():
            if len(replies) < _MIN_NULL_LOOKS:
                continue
            share = replies.count(NONE) / len(replies)
            low, high = share_interval(share, len(replies))
            figures.append(
                JudgeFigure(
                    task=task.name,
                    judge=self.judge,
                    setup=self.setup,
                    prompts=digest,
                    at=measured_at,
                    figure=figure,
                    value=share,
                    low=low,
                    high=high,
                    n=len(replies),
                )
            )
        return figures


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderVerdicts:
    """Verdicts of a judge, and a reader's answers to the responses that no rule reads."""

    judge: Verdicts
    setting: str  # the reader's model, or "self"
    open: OpenModel
    setup: str = ""  # of the model
    accept: Collection[Accepted] = ()
    null_test: NullTest | None = None

    def judgements(
        self, task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> list[Judgement]:
        """Judge, then look again at unread responses, in one call.

        Raises:
            BenchError: If the judge or the reader cannot be asked, or the null test fails.
        """
        rows = self.judge.judgements(task, questions, predictions)
        looks = unread_responses(task, questions, predictions)
        if not looks:
            return rows
        with self.open() as model:
            if self.null_test:
                self.null_test.require(task, questions, predictions, model)
            judgements = ask_reader(looks, model, reader_name(self.setting))
        accepted = (accept_refusals(row, self.accept) for row in judgements)
        return [*rows, *with_setup(accepted, format_judge_setup(READER, self.setup))]


def null_looks(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> dict[str, list[VerdictRequest]]:
    """Draw responses without an answer: to other questions, and cut in half.

    No rule finds an answer in them. Responses that state an answer are halved first, because half
    of another response may still imply its answer. A kind with few responses is left out.
    """
    readable = sorted(_readable_responses(task, questions, predictions), key=_draw_order)
    stated_first = sorted(readable, key=lambda response: not response.is_stated)
    drawn = {
        NULL_FOREIGN: list(islice(_foreign_looks(readable), _MAX_NULL_LOOKS)),
        NULL_HALVED: list(islice(_halved_looks(stated_first), _MAX_NULL_LOOKS)),
    }
    return {figure: looks for figure, looks in drawn.items() if len(looks) >= _MIN_NULL_LOOKS}


def _readable_responses(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> Iterator[_ReadableResponse]:
    """Responses with an answer form, except rankings and elicited letters."""
    for pair in pipeline.answered_questions(questions, predictions):
        form = task.form(pair.question)
        if form and not pair.prediction.ranking and not is_elicited(pair.prediction.decoding):
            yield _ReadableResponse(pair, form)


def _draw_order(response: _ReadableResponse) -> bytes:
    """Sort key of a random order, which is the same in every run."""
    prediction = response.pair.prediction
    return sha256(f"{prediction.question_id}/{prediction.sample}".encode()).digest()


def _foreign_looks(readable: Sequence[_ReadableResponse]) -> Iterator[VerdictRequest]:
    """Requests to read responses as those to another question, which they do not answer."""
    ring = [*readable, *readable]
    n_tries = min(_MAX_FOREIGN_TRIES, len(readable) - 1)
    for index, response in enumerate(readable):
        for other in ring[index + 1 : index + 1 + n_tries]:
            if _is_foreign(response, other):
                text = response.pair.prediction.text
                question = other.pair.question
                prediction = replace(response.pair.prediction, question_id=question.question_id)
                yield other.form.look(question, prediction, text)
                break


def _is_foreign(response: _ReadableResponse, other: _ReadableResponse) -> bool:
    """Whether a response has an answer of the same form as another, but none to its question."""
    own_options, options = response.form.options, other.form.options
    if other.form.kind != response.form.kind or "" in own_options:
        return False
    if not set(own_options).isdisjoint(options):
        return False
    if not options and other.pair.question.text == response.pair.question.text:
        return False
    return other.form.read(response.pair.prediction.text) is None


def _halved_looks(readable: Sequence[_ReadableResponse]) -> Iterator[VerdictRequest]:
    """Requests to read first halves of responses, if no rule finds an answer in them."""
    for pair, form in readable:
        text = pair.prediction.text.strip()
        half = text[: len(text) // 2].rpartition(" ")[0].rstrip()
        if half and form.read(half) is None:
            yield form.look(*pair, half)
