"""The evaluation as one composition of the pipeline's steps: predict, judge, score, summarise.

All callers use it: Dagster's assets step by step, everything else as a whole. They differ in the
sources of responses (a model, its cache alone, a file, a counter of requests, a table) and of
verdicts (rules, a model, people, a table).
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

from bench_assets.annotation.tasks import PEOPLE
from bench_assets.core.schema.chat import ChatModel
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import format_judge_setup, with_partial
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.baselines.blind_baselines import (
    BestConstant,
    best_constants,
    metrics_with_baselines,
)
from bench_assets.evaluation.judged_responses import JudgedResponses
from bench_assets.evaluation.outcomes import Accepted, accept_refusals, require_responses
from bench_assets.evaluation.task import RULES, Evaluation, Task

if TYPE_CHECKING:
    from bench_assets.evaluation.people_judge import PeopleJudge

OpenModel: TypeAlias = Callable[[], AbstractContextManager[ChatModel]]
"""Opens a model when it is needed: the judge's weights are loaded after the model's are freed."""


class Responses(Protocol):
    """A source of responses."""

    def predictions(
        self, task: Task, questions: Sequence[Question], condition: str
    ) -> list[Prediction]:
        """Return the responses to questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedResponses:
    """Responses of a chat model: one that generates, its cache alone, a file, or a counter."""

    open: OpenModel
    setup: str = ""  # as ``format_model_setup`` writes it
    accept: Collection[Accepted] = ()
    draws: int = 1  # responses to each question, unless the condition draws more

    @classmethod
    def of(cls, model: ChatModel, setup: str = "", accept: Collection[Accepted] = ()) -> Self:
        """Responses of an open model."""
        return cls(open=lambda: nullcontext(model), setup=setup, accept=accept)

    def predictions(
        self, task: Task, questions: Sequence[Question], condition: str
    ) -> list[Prediction]:
        """Send all questions in one call; accept refusals, and record the setup.

        Raises:
            ModelError: If the model cannot be called.
        """
        with self.open() as model:
            rows = pipeline.predict(task, questions, model, condition, self.draws)
            accepted = (accept_refusals(row, self.accept) for row in rows)
            return [replace(row, setup=self.setup) for row in accepted]


@dataclass(frozen=True, slots=True)
class StoredResponses:
    """Responses of a table."""

    rows: Sequence[Prediction]

    def predictions(
        self, task: Task, questions: Sequence[Question], condition: str
    ) -> list[Prediction]:
        """Return the rows as they are."""
        return list(self.rows)


class Verdicts(Protocol):
    """A source of verdicts on responses."""

    def judgements(
        self, task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> list[Judgement]:
        """Return the verdicts on responses to questions."""


@dataclass(frozen=True, slots=True)
class RuleVerdicts:
    """Verdicts of a judge that needs no model."""

    name: str = RULES

    def judgements(
        self, task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> list[Judgement]:
        """Judge by rules; a task without a judge gets no verdicts.

        Raises:
            SettingsError: If the task has no such rules.
        """
        if not task.is_judged:
            return []
        rows = pipeline.judge(task, questions, predictions, model=None, judge=self.name)
        return with_setup(rows, format_judge_setup(self.name, setup=""))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVerdicts:
    """Verdicts of a chat model."""

    name: str  # of the task's judge that calls it
    open: OpenModel
    setup: str = ""  # of the model
    accept: Collection[Accepted] = ()

    def judgements(
        self, task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> list[Judgement]:
        """Judge all responses in one call; elicited letters are judged by rules.

        Raises:
            ModelError: If the judge cannot be called.
        """
        setup = format_judge_setup(self.name, self.setup)
        if pipeline.is_judged_by_rules(task, predictions):
            return with_setup(pipeline.judge(task, questions, predictions, model=None), setup)
        with self.open() as model:
            rows = pipeline.judge(task, questions, predictions, model, self.name)
        return with_setup((accept_refusals(row, self.accept) for row in rows), setup)


@dataclass(frozen=True, slots=True)
class AnnotatorVerdicts:
    """Verdicts of people; elicited letters are judged by rules."""

    open: "Callable[[Collection[str]], PeopleJudge]"  # for the conditions of the responses

    def judgements(
        self, task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> list[Judgement]:
        """Collect the verdicts so far; a response without them has an error.

        Raises:
            SettingsError: If the deadline has passed, and too few responses were judged.
        """
        if pipeline.is_judged_by_rules(task, predictions):
            return RuleVerdicts(PEOPLE).judgements(task, questions, predictions)
        people = self.open({row.condition for row in predictions})
        answered = pipeline.answered_questions(questions, predictions)
        return with_setup(people.judge(answered), format_judge_setup(PEOPLE, setup=""))


@dataclass(frozen=True, slots=True)
class StoredVerdicts:
    """Verdicts of a table."""

    rows: Sequence[Judgement] = ()

    def judgements(
        self, task: Task, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> list[Judgement]:
        """Return the rows as they are."""
        return list(self.rows)


def with_setup(rows: Iterable[Judgement], setup: str) -> list[Judgement]:
    """Record the setup of a judge in its judgements."""
    return [replace(row, setup=setup) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """Sources of the blind baselines beside every metric.

    Attributes:
        constants: Best constant responses to the questions; by default, all are tried.
        find_judged_responses: Finds earlier verdicts of the judge of a model's predictions; None
            if rules judge.
    """

    constants: Callable[[Task, Sequence[Question]], Sequence[BestConstant]] = best_constants
    find_judged_responses: Callable[
        [Sequence[Prediction], Sequence[Judgement]], JudgedResponses | None
    ] = lambda predictions, judgements: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """An evaluation of one model on one task under one condition.

    Attributes:
        responses: Source of the responses.
        judge: Source of the verdicts; not used by tasks without a judge.
        scorer: Name of a scorer; "" for the task's default. Rankings have one scorer.
        accept: Outcomes that do not stop ``run``.
        complete: Whether ``run`` stops if a response or verdict is missing, as asset checks do.
        baselines: Sources of the blind baselines.
        n_rejected: Rejected source rows of the questions; None if not counted.
    """

    task: Task
    condition: str = "main"
    responses: Responses
    judge: Verdicts = RuleVerdicts()
    scorer: str = ""
    accept: Collection[Accepted] = ()
    complete: bool = False
    baselines: Baselines = Baselines()
    n_rejected: int | None = None

    def run(self, questions: Sequence[Question]) -> Evaluation:
        """Predict, judge, score and summarise.

        Raises:
            BenchError: If a source cannot be used, or a response or verdict is missing.
        """
        predictions, judgements, scores = self.predict_and_score(questions)
        return Evaluation(
            task=self.task,
            model=predictions[0].model if predictions else "",
            condition=self.condition,
            questions=questions,
            predictions=predictions,
            judgements=judgements,
            scores=scores,
            metrics=self.metrics(questions, predictions, judgements, scores),
        )

    def predict_and_score(
        self, questions: Sequence[Question]
    ) -> tuple[Sequence[Prediction], Sequence[Judgement], Sequence[Score]]:
        """Predict, judge and score; raises as ``run``."""
        predictions = self.predictions(questions)
        self._require_responses("questions", predictions)
        judgements = self.judgements(questions, predictions)
        self._require_responses("verdicts", judgements)
        return predictions, judgements, self.scores(questions, predictions, judgements)

    def predictions(self, questions: Sequence[Question]) -> list[Prediction]:
        """Get the responses to questions.

        Raises:
            ModelError: If the model cannot be called.
        """
        return self.responses.predictions(self.task, questions, self.condition)

    def judgements(
        self, questions: Sequence[Question], predictions: Sequence[Prediction]
    ) -> list[Judgement]:
        """Get the verdicts on responses; none for tasks without judge and reader.

        Raises:
            BenchError: If the judge cannot be called.
        """
        if not self.task.has_judgements:
            return []
        return self.judge.judgements(self.task, questions, predictions)

    def scores(
        self,
        questions: Sequence[Question],
        predictions: Sequence[Prediction],
        judgements: Sequence[Judgement],
    ) -> list[Score]:
        """Score responses.

        Raises:
            UnknownNameError: If the task has no such scorer.
        """
        scorer = self.scorer if self.task.asked_of == "model" else ""
        return pipeline.score(self.task, questions, predictions, judgements, scorer)

    def metrics(
        self,
        questions: Sequence[Question],
        predictions: Sequence[Prediction],
        judgements: Sequence[Judgement],
        scores: Sequence[Score],
    ) -> list[Metric]:
        """Compute every metric with its blind baselines; signatures name a part of the release."""
        judged_responses = self.baselines.find_judged_responses(predictions, judgements)
        has_constants = self.task.asked_of == "model" and judged_responses is None
        constants = self.baselines.constants(self.task, questions) if has_constants else []
        rows = metrics_with_baselines(
            self.task, questions, predictions, scores, constants, judged_responses
        )
        rows = [replace(row, n_rejected=self.n_rejected) for row in rows]
        if len(questions) >= self.task.n_published:
            return rows
        part = f"{len(questions)} of {self.task.n_published} questions of the release"
        return [replace(row, signature=with_partial(row.signature, part)) for row in rows]

    def _require_responses(
        self, noun: str, rows: Sequence[Prediction] | Sequence[Judgement]
    ) -> None:
        if self.complete:
            require_responses(self.task.name, noun, rows, self.accept)
