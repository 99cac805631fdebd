"""Task: prompts, judges, scorers and metrics of one benchmark task; one evaluation as rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from math import isnan
from typing import Any, Literal, NamedTuple, Self, TypeAlias

from bench_assets.annotation.tasks import PEOPLE, DecisionTable, SuiteAnnotationTask
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.schema.chat import ChatModel, Prompt
from bench_assets.core.schema.errors import BenchError, SettingsError, UnknownNameError
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.stats.means import Mean

MeasureBeside: TypeAlias = Callable[
    [Any, str, Sequence[Question], Sequence[Prediction]], list[Metric]
]


class AnsweredQuestion(NamedTuple):
    """A question with one prediction for it."""

    question: Question
    prediction: Prediction

    @classmethod
    def of(cls, questions: Iterable[Question], predictions: Iterable[Prediction]) -> list[Self]:
        """Pair each prediction with its question.

        Raises:
            KeyError: If a question is missing.
        """
        by_id = {question.question_id: question for question in questions}
        return [cls(by_id[row.question_id], row) for row in predictions]


class ScoredQuestion(NamedTuple):
    """A question with one score for it."""

    question: Question
    score: Score

    @classmethod
    def of(cls, questions: Iterable[Question], scores: Iterable[Score]) -> list[Self]:
        """Pair each score with its question.

        Raises:
            KeyError: If a question is missing.
        """
        by_id = {question.question_id: question for question in questions}
        return [cls(by_id[row.question_id], row) for row in scores]


MakePrompt: TypeAlias = Callable[[Question], Prompt]
ScoreOne: TypeAlias = Callable[[AnsweredQuestion, Sequence[Judgement]], Score]
Measure: TypeAlias = Callable[[Sequence[ScoredQuestion]], Mean]
Adds: TypeAlias = Callable[[Sequence[ScoredQuestion]], Sequence[float]]
Slices: TypeAlias = Callable[[Question], Sequence[str]]
FindForm: TypeAlias = Callable[[Question], AnswerForm | None]


CANNOT_BE_SCORED = "cannot be scored"
"""Prefix of the note of a response that the scorer could not parse."""

CANNOT_BE_READ = (
    *(BenchError, ArithmeticError, AssertionError, AttributeError, LookupError),
    *(RuntimeError, TypeError, ValueError),
)
"""Exceptions that a scorer or judge may raise for a response.

That response is unscored, with the exception as the reason.
"""

RULES = "rules"
"""Name of the judge that needs no model: a suite's own rules; the default."""


class ByRules(NamedTuple):
    """A judge that needs no model."""

    judge: Callable[[Sequence[AnsweredQuestion]], list[Judgement]]

    def judgements(
        self, answered: Sequence[AnsweredQuestion], name: str = RULES
    ) -> list[Judgement]:
        """Judge responses; those that the judge cannot read get rows with an error and its name."""
        with suppress(*CANNOT_BE_READ):
            return self.judge(answered)
        readable: list[AnsweredQuestion] = []
        failed: list[Judgement] = []
        for pair in answered:
            try:
                self.judge([pair])
            except CANNOT_BE_READ as error:
                row = Judgement.of(
                    pair.prediction, judge=name, criterion="", verdict=None, response=""
                )
                reason = f"the judge cannot read the response: {_format_error(error)}"
                failed.append(replace(row, error=reason))
            else:
                readable.append(pair)
        return [*(self.judge(readable) if readable else ()), *failed]


class ByModel(NamedTuple):
    """A judge that calls a chat model.

    Attributes:
        reads: Whether it also decides about responses that no rule reads; if so, no reader does.
    """

    judge: Callable[[Sequence[AnsweredQuestion], ChatModel], Sequence[Judgement]]
    reads: bool = True


Judge: TypeAlias = ByRules | ByModel


class ChosenJudge(NamedTuple):
    """A judge of a task, and the model it calls.

    Attributes:
        model: "" for a judge that needs none.
    """

    name: str
    model: str


def try_to_score(
    scorer: ScoreOne, pair: AnsweredQuestion, judgements: Sequence[Judgement]
) -> Score:
    """Score a prediction; if the scorer fails, it is unscored, with the reason."""
    try:
        return _normalize_points(scorer(pair, judgements))
    except CANNOT_BE_READ as error:
        return Score.of(
            pair.prediction, points=None, note=f"{CANNOT_BE_SCORED}: {_format_error(error)}"
        )


def _normalize_points(score: Score) -> Score:
    """Convert points to a plain float: plugins also return booleans and numbers of NumPy.

    Raises:
        ValueError: If the points are NaN.
    """
    if score.points is None:
        return score
    points = float(score.points)
    if isnan(points):
        raise ValueError("its points are NaN")
    return score if type(score.points) is float else replace(score, points=points)


def judgements_by_rules(task: "Task", pair: AnsweredQuestion) -> list[Judgement]:
    """Verdicts of the task's own rules on a response; none if the task has no rules."""
    rules = task.judges.get(RULES)
    return rules.judgements([pair]) if isinstance(rules, ByRules) else []


def score_as_empty(task: "Task", scorer: ScoreOne, pair: AnsweredQuestion) -> Score:
    """Score a response without an answer like an empty response: zero points."""
    empty_pair = pair._replace(prediction=replace(pair.prediction, text="", raw_text=""))
    score = try_to_score(scorer, empty_pair, judgements_by_rules(task, empty_pair))
    # A question without points, such as one whose answer is not published, stays without.
    return replace(score, points=0.0) if score.max_points else score


@contextmanager
def plugin_errors_named(source: str) -> Iterator[None]:
    """Convert an unexpected exception of a plugin's code into an error that names its source.

    Raises:
        BenchError: Names the source and the exception.
    """
    try:
        yield
    except BenchError:
        raise
    except CANNOT_BE_READ as error:
        raise BenchError(f"{source}: {_format_error(error)}") from error


def by_category(question: Question) -> Sequence[str]:
    """The paper's category as the only slice of a question; none if it has no category."""
    return (question.category,) if question.category else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A way to prompt the questions: the paper's own, or one of its ablations.

    Attributes:
        prompt: Makes the prompt of a question.
        about: What is special about it, and its place in the paper.
        own_questions: Whether it has its own question table: other images, or a subset.
        needs: Input to provide, and where; shown if there are no questions.
        rejections: Table of the rejected rows of its own files; "" for none.
        samples: Responses drawn for each question.
        temperature: Overrides the model's configured one; None keeps it.
    """

    prompt: MakePrompt
    about: str
    own_questions: bool = False
    needs: str = ""
    rejections: str = ""
    samples: int = 1
    temperature: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task: prompts, judges, scorers and metrics.

    Attributes:
        name: "codis" or "journeybench/mcot": its folder, asset prefix and table folder.
        title: As the paper spells it.
        purpose: What it tests, in one sentence.
        version: Incremented when new scores are not comparable with old ones.
        conditions: By name; "main", which the paper publishes, is the first.
        scorers: By name; they turn responses and verdicts into points. The first is the default.
        unjudged_scorers: Names of the scorers that use no verdicts of models.
        measures: By metric name; the first is the paper's primary metric.
        adds: By metric: each score's contribution to a corpus metric, such as CIDEr.
        lower_is_better: Metrics of which lower is better, such as error rates.
        right_from: Share of the points from which a response counts as right.
        judges: By name; {} if none is needed.
        answer_form: Finds the form of the answer to a question, by which the default scorer reads
            responses and a reader looks again; None for answers without one, such as captions.
        slices: Categories of a question, by which results are sliced.
        asked_of: Kind of model that answers; names the partition set.
        counts: The paper's number of questions by category.
        n_published: Number of questions of the published release, below which a number is partial;
            0 if unknown.
        extensions: Packages that added to it, see ``evaluation.extensions``.
        decided_in: Decision tables of annotation that its questions are built from.
        rejections: Table of source rows that did not become questions; "" if not counted.
        one_verdict: Whether one verdict decides all points of a response, so that people can judge.
        measure_beside: Metrics of a partial evaluation that need more than scores, such as an
            encoder. Called with a ``HomeConfiguration`` first; the suite also has them as an asset.
        measured_by: Harness of imported results; "" if it is evaluated here.
    """

    name: str
    title: str
    purpose: str = ""
    version: int
    conditions: Mapping[str, Condition]
    scorers: Mapping[str, ScoreOne]
    unjudged_scorers: frozenset[str] = frozenset()
    measures: Mapping[str, Measure]
    adds: Mapping[str, Adds] = field(default_factory=dict)
    lower_is_better: frozenset[str] = frozenset()
    right_from: float = 1.0
    judges: Mapping[str, Judge] = field(default_factory=dict)
    answer_form: FindForm | None = None
    slices: Slices = by_category
    asked_of: Literal["model", "encoder"] = "model"
    counts: Mapping[str, int] = field(default_factory=dict)
    n_published: int = 0
    extensions: tuple[str, ...] = ()
    decided_in: tuple[DecisionTable, ...] = ()
    rejections: str = ""
    one_verdict: bool = True
    measure_beside: MeasureBeside | None = None
    measured_by: str = ""

    @property
    def suite(self) -> str:
        """The benchmark the task belongs to: the first part of its name."""
        return self.name.split("/")[0]

    @property
    def display_title(self) -> str:
        """Its title with its extensions: ``CODIS+acme``."""
        return "+".join((self.title, *self.extensions))

    @property
    def primary_metric(self) -> str:
        """The metric the paper ranks models by: the first of its measures."""
        return next(iter(self.measures))

    @property
    def is_lowest_best(self) -> bool:
        """Whether models are ranked by the lowest value of the primary metric."""
        return self.primary_metric in self.lower_is_better

    @property
    def response_tasks(self) -> tuple[SuiteAnnotationTask, ...]:
        """Annotation tasks about responses; none for tasks of encoders."""
        if self.asked_of != "model":
            return ()
        return _response_tasks(self.name, self.title, judged=self.is_judged)

    @property
    def default_scorer(self) -> str:
        """The scorer used by default."""
        return next(iter(self.scorers))

    @property
    def is_judged(self) -> bool:
        """Whether scores need verdicts."""
        return bool(self.judges)

    @property
    def is_scored_without_judge(self) -> bool:
        """Whether responses can be scored without a model or people as judge."""
        return not self.is_judged or RULES in self.judges

    @property
    def has_judgements(self) -> bool:
        """Whether it has a table of judgements: of a judge, or of a reader."""
        return self.is_judged or self.is_read

    @property
    def is_read(self) -> bool:
        """Whether a reader can look again at its responses."""
        return self.answer_form is not None

    def form(self, question: Question) -> AnswerForm | None:
        """Form of the answer to a question; None if it has none."""
        return self.answer_form(question) if self.answer_form else None

    @property
    def is_checked_by_people(self) -> bool:
        """Whether people's verdicts on drawn responses can correct its numbers."""
        return self.has_judgements and self.one_verdict and bool(self.response_tasks)

    @property
    def is_judged_by_people(self) -> bool:
        """Whether people can be its judge."""
        return self.is_judged and self.is_checked_by_people

    @property
    def default_judge(self) -> str:
        """The judge to use if bench.toml names only a model; "" if no judge calls a model."""
        model_judges = (name for name, judge in self.judges.items() if isinstance(judge, ByModel))
        return next(model_judges, "")

    @property
    def ways_to_judge(self) -> str:
        """Possible values of the setting ``judge``, for messages."""
        settings = [
            f"{name}:MODEL" if isinstance(judge, ByModel) else name
            for name, judge in self.judges.items()
            if name != self.default_judge
        ]
        if self.default_judge:
            settings.append("a model")
        if self.is_judged_by_people:
            settings.append(PEOPLE)
        return ", ".join(settings) or "none"

    def chosen_judge(self, setting: str) -> ChosenJudge:
        """Parse the judge of bench.toml: a judge of the task, or a model.

        ``"rules"`` is a judge, ``"gpt"`` a model that the default judge calls, ``"strict:gpt"`` a
        model that the judge "strict" calls, and ``"people"`` are annotators.

        Raises:
            SettingsError: If the task has no such judge; lists its judges.
        """
        if setting == PEOPLE and self.is_judged_by_people:
            return ChosenJudge(name=PEOPLE, model="")
        name, _, model = setting.partition(":")
        calls_model = isinstance(self.judges.get(name), ByModel)
        if calls_model and model:
            return ChosenJudge(name, model)
        if setting in self.judges and not calls_model:
            return ChosenJudge(name=setting, model="")
        is_model = setting not in (RULES, PEOPLE)
        lacks_model = calls_model and name != self.default_judge  # "strict" without ":gpt"
        if self.default_judge and is_model and not lacks_model:
            return ChosenJudge(self.default_judge, setting)
        raise SettingsError(
            f"{self.name} is judged by {self.ways_to_judge}, not by {setting!r}: name the judge"
        )

    def asked_judge(self, setting: str, scorer: str) -> ChosenJudge:
        """The chosen judge; its name is "" if there is none, or it is a model the scorer ignores.

        Raises:
            SettingsError: If the task is judged, but has no such judge.
        """
        if self.is_judged:
            chosen = self.chosen_judge(setting)
            if not chosen.model or scorer not in self.unjudged_scorers:
                return chosen
        return ChosenJudge(name="", model="")

    def chosen_reader(self, judge: str, reader: str) -> str:
        """The model that looks again at unread responses, or "self"; "" for nobody.

        Without a ``reader`` in bench.toml, the model of its ``judge`` reads.

        Raises:
            SettingsError: If the task has no such judge.
        """
        if not self.is_read or reader == RULES:
            return ""
        if not self.is_judged:
            return reader or ("" if judge in (RULES, PEOPLE) else judge.rpartition(":")[2])
        name, model = self.chosen_judge(judge)
        chosen_judge = self.judges.get(name)
        if name == PEOPLE or (isinstance(chosen_judge, ByModel) and chosen_judge.reads):
            return ""
        return reader or model

    def condition(self, name: str) -> Condition:
        """Find a condition by name.

        Raises:
            UnknownNameError: If the task has no such condition.
        """
        if name not in self.conditions:
            raise UnknownNameError(f"condition of {self.name}", name, self.conditions)
        return self.conditions[name]

    def scorer(self, name: str) -> ScoreOne:
        """Find a scorer by name.

        Raises:
            UnknownNameError: If the task has no such scorer.
        """
        if name not in self.scorers:
            raise UnknownNameError(f"scorer of {self.name}", name, self.scorers)
        return self.scorers[name]


@cache  # same objects for the same task: their assets are built once
def _response_tasks(task: str, title: str, *, judged: bool) -> tuple[SuiteAnnotationTask, ...]:
    from bench_assets.annotation.responses.verdicts import verdicts_task

    return (verdicts_task(task, title, judged=judged),)


def _format_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error!s:.200}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Evaluation:
    """Responses, judgements, scores and metrics of one model under one condition of a task."""

    task: Task
    model: str
    condition: str
    questions: Sequence[Question]
    predictions: Sequence[Prediction]
    judgements: Sequence[Judgement] = ()
    scores: Sequence[Score]
    metrics: Sequence[Metric]
    partial: str = ""  # "4 of 80 questions"; "" for all

    def __repr__(self) -> str:
        """Model, task and number of responses, in place of all rows."""
        counts = f"{len(self.predictions)} responses to {len(self.questions)} questions"
        return f"<Evaluation of {self.model} on {self.task.name}, {self.condition}: {counts}>"
