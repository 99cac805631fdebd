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

_MOST_NULL_LOOKS = 50  # of each kind
_MIN_NULL_LOOKS = 10  # of each kind; fewer tell nothing
_MOST_FOREIGN_TRIES = 20  # questions that a response is tried with


def unread_responses(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> list[VerdictRequest]:
    """List the responses whose answer has a form, but is not stated in any."""
    return [
        form.look(*pair, pair.prediction.text)
        for pair, form in _readable(task, questions, predictions)
        if not form.is_stated(pair.prediction.text)
    ]


def ask_reader(looks: Sequence[VerdictRequest], model: ChatModel, name: str) -> list[Judgement]:
    """Look again at responses; ``name`` is the reader's in the judgements.

    Raises:
        ModelError: If the reader cannot be asked.
    """
    return [replace(row, judge=name) for rows in look_again(looks, model) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class NullTest:
    """The null test of a reader on a task, with the figures of earlier ones."""

    judge: str  # the reader's name in judgements
    setup: str = ""
    known: Callable[[], Sequence[JudgeFigure]] = lambda: ()
    record: Callable[[Sequence[JudgeFigure]], object] = lambda figures: None

    def require(
        self,
        task: Task,
        questions: Sequence[Question],
        predictions: Sequence[Prediction],
        model: ChatModel,
    ) -> None:
        """Test a reader, unless it was tested before.

        Raises:
            ModelError: If it finds answers where there are none, or cannot be asked.
        """
        digest = short_digest(prompts_digest())
        mine = (task.name, self.judge, self.setup, digest)
        figures = [
            judge_figure
            for judge_figure in self.known()
            if judge_figure.figure in NULL_RESPONSES
            and (judge_figure.task, judge_figure.judge, judge_figure.setup, judge_figure.prompts)
            == mine
        ]
        if not figures:
            figures = self._measure(task, questions, predictions, model, digest)
            self.record(figures)
        for figure in figures:
            if figure.value < MIN_NONE_SHARE:
                raise ModelError(
                    f"{task.name}: {self.judge} is not trusted: it finds an answer in"
                    f" {round((1 - figure.value) * figure.n)} of {figure.n}"
                    f" {NULL_RESPONSES[figure.figure]}"
                    f" (at most {floor((1 - MIN_NONE_SHARE) * figure.n + 1e-9)}). Name another"
                    ' reader, or reader = "rules" for none'
                )

    def _measure(
        self,
        task: Task,
        questions: Sequence[Question],
        predictions: Sequence[Prediction],
        model: ChatModel,
        digest: str,
    ) -> list[JudgeFigure]:
        drawn = null_looks(task, questions, predictions)
        rows = look_again([look for looks in drawn.values() for look in looks], model)
        replies = iter([first for first, *_ in rows])
        answers = {
            figure: [row.value for row in islice(replies, len(looks)) if not row.error]
            for figure, looks in drawn.items()
        }
        at = datetime.now(UTC).isoformat(timespec="seconds")
        return [
            JudgeFigure(
                task=task.name,
                judge=self.judge,
                setup=self.setup,
                prompts=digest,
                at=at,
                figure=figure,
                value=share,
                low=low,
                high=high,
                n=len(values),
            )
            for figure, values in answers.items()
            if len(values) >= _MIN_NULL_LOOKS
            for share in [values.count(NONE) / len(values)]
            for low, high in [share_interval(share, len(values))]
        ]


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
            ModelError: If the reader cannot be asked, or fails its null test.
        """
        rows = self.judge.judgements(task, questions, predictions)
        if not (looks := unread_responses(task, questions, predictions)):
            return rows
        with self.open() as model:
            if self.null_test:
                self.null_test.require(task, questions, predictions, model)
            read = ask_reader(looks, model, reader_name(self.setting))
        accepted = (accept_refusals(row, self.accept) for row in read)
        return [*rows, *with_setup(accepted, format_judge_setup(READER, self.setup))]


def null_looks(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> dict[str, list[VerdictRequest]]:
    """Draw responses without an answer: to other questions, and cut in half.

    No rule sees an answer in them. Responses that state one come first when they are halved: the
    half of another may still mean one. A kind with few such responses is left out.
    """
    readable = sorted(_readable(task, questions, predictions), key=_draw)
    halved = sorted(readable, key=lambda one: not one[1].is_stated(one[0].prediction.text))
    drawn = {
        NULL_FOREIGN: list(islice(_foreign(readable), _MOST_NULL_LOOKS)),
        NULL_HALVED: list(islice(_halved(halved), _MOST_NULL_LOOKS)),
    }
    return {figure: looks for figure, looks in drawn.items() if len(looks) >= _MIN_NULL_LOOKS}


def _readable(
    task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
) -> Iterator[tuple[AnsweredQuestion, AnswerForm]]:
    """Responses with an answer of some form; elicited letters need no reading."""
    for pair in pipeline.answered_questions(questions, predictions):
        form = task.form(pair.question)
        if form and not pair.prediction.ranking and not is_elicited(pair.prediction.decoding):
            yield pair, form


def _draw(readable: tuple[AnsweredQuestion, AnswerForm]) -> bytes:
    prediction = readable[0].prediction
    return sha256(f"{prediction.question_id}/{prediction.sample}".encode()).digest()


def _foreign(readable: Sequence[tuple[AnsweredQuestion, AnswerForm]]) -> Iterator[VerdictRequest]:
    """Responses with another question, none of whose options was offered to them."""
    for position, (pair, own_form) in enumerate(readable):
        other_pairs = [*readable[position + 1 :], *readable[:position]][:_MOST_FOREIGN_TRIES]
        for other_pair, form in other_pairs:
            is_foreign = form.kind == own_form.kind and not {*own_form.options} & {
                *form.options,
                "",
            }
            if other_pair.question.text == pair.question.text and not form.options:
                continue
            if is_foreign and form.read(pair.prediction.text) is None:
                prediction = replace(pair.prediction, question_id=other_pair.question.question_id)
                yield form.look(other_pair.question, prediction, pair.prediction.text)
                break


def _halved(readable: Sequence[tuple[AnsweredQuestion, AnswerForm]]) -> Iterator[VerdictRequest]:
    for pair, form in readable:
        text = pair.prediction.text.strip()
        half = text[: len(text) // 2].rpartition(" ")[0].rstrip()
        if half and form.read(half) is None:
            yield form.look(*pair, half)
