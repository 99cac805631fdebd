"""Scoring of file benchmarks: by the rules of the answer type, then by a reader or a judge model.

Rules parse letters, words, numbers, boxes and lists. A reader looks again at letters, words and
numbers that they cannot parse; the judge model decides about texts that match no reference. Graded
answers have no rules.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from math import nan
from typing import SupportsFloat, TypeAlias

from bench_assets.core.answer_types.definition import AnswerSettings, AnswerTypeName, Gold, Grade
from bench_assets.core.answer_types.graded import GradedAnswer
from bench_assets.core.answer_types.registry import RowAnswer, make_answer_type
from bench_assets.core.answer_types.texts import TextAnswer
from bench_assets.core.judging.second_look import AnswerForm
from bench_assets.core.judging.verdict_requests import (
    RECORDED_PREFIX,
    VerdictRequest,
    ask_for_verdicts,
)
from bench_assets.core.judging.verdicts import (
    RIGHT_OR_WRONG,
    is_truncated,
    read_verdict,
    verdict_points,
)
from bench_assets.core.metrics.aggregates import accuracy, group_accuracy_by
from bench_assets.core.metrics.official_rules import OFFICIAL_RULES, OfficialRule
from bench_assets.core.reading.readings import UNREAD
from bench_assets.core.schema.chat import ChatModel, Prompt, Response
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import Judgement, Question, Score
from bench_assets.evaluation.task import (
    RULES,
    AnsweredQuestion,
    ByModel,
    ByRules,
    Judge,
    Measure,
    ScoreOne,
)
from bench_assets.file_benchmarks import prompts
from bench_assets.file_benchmarks.metrics import MetricDefinition, default_metric, find_metric
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings

CRITERION = "right"
_YES_THRESHOLD = 0.5  # points from which a grade counts as yes
_ROUNDING = 1e-6  # tolerated rounding error of points of a metric function, such as a cosine
_YES_NO = {"yes", "no"}

_METRIC_RULES: Mapping[str, OfficialRule] = {
    "anls": "docvqa",
    "relaxed_accuracy": "chartqa",
    "vqa_accuracy": "vqa",
}

DRAWN = "the authors draw an answer at random"
"""Note of an official score without points."""
_DEFAULT_ANSWERS = AnswerSettings()

Points: TypeAlias = Callable[[str, Question], float | None]
"""A user's metric function: points in [0, 1] of a response to a question; None if unread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerScoring:
    """Parses, judges, scores and averages the responses to a benchmark."""

    name: str  # of the metric
    answers: RowAnswer
    metric: MetricDefinition
    points: Points | None = None  # a user's metric function, instead of the answer type's points
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further metrics, see ``group_accuracy_by``."""
    official: Points | None = None  # the authors' own rule

    @classmethod
    def of(
        cls,
        metric: str | None = None,
        answers: AnswerTypeName | None = None,
        settings: AnswerSettings = _DEFAULT_ANSWERS,
        groups: Mapping[str, tuple[str, ...]] | None = None,
    ) -> "AnswerScoring":
        """Find the metric and the answer type that settings name.

        Raises:
            SettingsError: If they do not fit together, or a function cannot be imported.
        """
        if metric and ":" in metric:
            _, _, name = metric.rpartition(":")
            definition = MetricDefinition(measures={name: accuracy})
            points = _import_metric(metric)
        else:
            name = metric or default_metric(answers)
            definition, points = find_metric(name, answers), None
        return cls(
            name=name,
            answers=make_answer_type(answers, replace(settings, matching=definition.matching)),
            metric=definition,
            points=points,
            groups=groups or {},
        )

    @property
    def graded_answer(self) -> GradedAnswer | None:
        """The answer type of rows without options, if a judge grades their responses."""
        kind = self.answers.default
        return kind if isinstance(kind, GradedAnswer) else None

    @property
    def is_judgeable(self) -> bool:
        """Whether a judge may decide about texts that match no reference, or grades them."""
        return self.metric.is_judgeable or self.graded_answer is not None

    @property
    def scorers(self) -> dict[str, ScoreOne]:
        """The scorer by its name, and the authors' own if there is one."""
        name = "judged" if self.is_judgeable else self.name
        scorers: dict[str, ScoreOne] = {name: self.score}
        if self.official:
            scorers["official"] = self.score_officially
        return scorers

    @property
    def measures(self) -> dict[str, Measure]:
        """Metrics, the primary one first."""
        grouped = {name: group_accuracy_by(columns) for name, columns in self.groups.items()}
        return {**self.metric.measures, **grouped}

    @property
    def judges(self) -> dict[str, Judge]:
        """Judges by name; none for metrics that score how close a response is.

        A graded answer has no judge by rules.
        """
        if not self.is_judgeable:
            return {}
        model: dict[str, Judge] = {"model": ByModel(self.judge, reads=False)}
        return model if self.graded_answer else {RULES: ByRules(self.judge_by_rules), **model}

    def form(self, question: Question) -> AnswerForm | None:
        """Form of the answer, for readers; None if it has none."""
        return self.answers.form(_gold_of(question))

    @property
    def answer_form(self) -> Callable[[Question], AnswerForm | None] | None:
        """``form``, if some answers have one."""
        return self.form if self.answers.has_form and not self.points else None

    def score(self, answered: AnsweredQuestion, judgements: Sequence[Judgement]) -> Score:
        """Score a response by the answer type; if that leaves it open, by the judge's verdict.

        Without a verdict of a model, it suffices that a response names one option.
        """
        by_rules = all(judgement.by_rules for judgement in judgements)
        grade = self._grade(answered, accept_named=by_rules)
        is_judged = bool(judgements) or not self._has_reader(answered.question)
        if self.is_judgeable and is_judged and self._is_open(answered, grade):
            points, note = self._judge_points(judgements)
            return Score.of(answered.prediction, points=points, answer=grade.read, note=note)
        note = f"{grade.reason}, only named" if grade.named else ""
        return Score.of(
            answered.prediction, points=grade.points or 0.0, answer=grade.read, note=note
        )

    def score_officially(
        self, answered: AnsweredQuestion, judgements: Sequence[Judgement]
    ) -> Score:
        """Score a response by the authors' published rule; where it draws an answer, as wrong."""
        question, prediction = answered
        points = self.official(prediction.text, question) if self.official else None
        note = DRAWN if points is None else ""
        return Score.of(
            prediction, points=points or 0.0, answer=(prediction.text.strip(),), note=note
        )

    def judge(self, answered: Sequence[AnsweredQuestion], model: ChatModel) -> Sequence[Judgement]:
        """Ask a judge model about responses that the rules leave open and no reader reads.

        A recorded model is also asked about those that a reader reads.
        """
        is_recorded = model.signature.startswith(RECORDED_PREFIX)
        requests = [
            self._verdict_request(pair)
            for pair in answered
            if (is_recorded or not self._has_reader(pair.question))
            and self._needs_judge(pair, accept_named=False)
        ]
        complaint = self.graded_answer.complaint if self.graded_answer else prompts.NO_VERDICT
        return [rows[0] for rows in ask_for_verdicts(requests, model, complaint)]

    def judge_by_rules(self, answered: Sequence[AnsweredQuestion]) -> list[Judgement]:
        """Judge responses that the rules leave open as wrong."""
        return [
            Judgement.of(
                pair.prediction,
                judge=RULES,
                criterion=CRITERION,
                verdict=False,
                response=self._grade(pair, accept_named=True).reason or "is wrong",
            )
            for pair in answered
            if self._needs_judge(pair, accept_named=True)
        ]

    def _has_reader(self, question: Question) -> bool:
        """Whether a reader looks again at unread responses, instead of a judge."""
        return self.answer_form is not None and self.form(question) is not None

    def _grade(self, answered: AnsweredQuestion, *, accept_named: bool) -> Grade:
        """Grade a response; unread if it only names an option, unless that is accepted."""
        question, prediction = answered
        if self.points:
            points = _check_points(self.points(prediction.text, question))
            read = () if points is None else (prediction.text.strip(),)
            return Grade(points=points, read=read, reason="")
        grade = self.answers.grade(prediction.text, _gold_of(question))
        if grade.named and not accept_named:
            return Grade(points=None, read=(), reason=UNREAD)
        return grade

    def _needs_judge(self, pair: AnsweredQuestion, *, accept_named: bool) -> bool:
        return self._is_open(pair, self._grade(pair, accept_named=accept_named))

    def _is_open(self, pair: AnsweredQuestion, grade: Grade) -> bool:
        """Whether the rules leave a response open: unread, or a text that matches no reference."""
        is_text = pair.question.kind == "text" and isinstance(self.answers.default, TextAnswer)
        return grade.points is None or (
            is_text and not grade.points and not {*grade.read} & _YES_NO
        )

    def _verdict_request(self, pair: AnsweredQuestion) -> VerdictRequest:
        """Build the request for a grade, or for a verdict."""
        question, prediction = pair
        make = partial(
            VerdictRequest, question=question, prediction=prediction, criterion=CRITERION
        )
        graded = self.graded_answer if question.kind == "text" else None
        if graded is None:
            prompt = prompts.judge(question, prediction.text)
            return make(prompt=prompt, read=partial(read_verdict, words=RIGHT_OR_WRONG))
        gold = Gold(question.kind, question.answer)
        prompt = Prompt.of(graded.judge_prompt(question.text, prediction.text, gold))
        read_yes, read_grade = partial(_is_graded_right, graded), partial(_grade_text, graded)
        return make(prompt=prompt, read=read_yes, value=read_grade)

    def _judge_points(self, judgements: Sequence[Judgement]) -> tuple[float | None, str]:
        """Points by the judge's verdict or grade; None with a reason if there is none."""
        missing = "no grade" if self.graded_answer else "neither right nor wrong"
        points, note = verdict_points(judgements, f"says {missing}")
        grade = "" if points is None else judgements[0].value
        if self.graded_answer and grade:
            return self.graded_answer.read_judge_grade(grade).points, f"grade {grade}"
        return points, note


def _gold_of(question: Question) -> Gold:
    return Gold(kind=question.kind, answer=question.answer, options=question.options)


def scoring_of(benchmark: FileBenchmarkSettings) -> AnswerScoring:
    """Scoring of a benchmark.

    Raises:
        SettingsError: If its settings do not fit together; names the entry.
    """
    scoring = AnswerScoring.of(
        benchmark.metric, benchmark.answer_type, benchmark.answer_settings, benchmark.groups
    )
    if benchmark.judge != RULES and not scoring.is_judgeable:
        raise SettingsError(f"judge: {scoring.name} needs no judge. Remove it")
    rule = benchmark.official or _METRIC_RULES.get(benchmark.metric or "")
    return replace(scoring, official=OFFICIAL_RULES[rule]) if rule else scoring


def _is_graded_right(graded: GradedAnswer, response: Response) -> bool | None:
    """Whether a judge's grade counts as yes; None if it cannot be read."""
    points = graded.read_judge_grade(_complete_answer(response)).points
    return None if points is None else points >= _YES_THRESHOLD


def _grade_text(graded: GradedAnswer, response: Response) -> str:
    return " ".join(graded.read_judge_grade(_complete_answer(response)).read)


def _complete_answer(response: Response) -> str:
    return "" if is_truncated(response) else response.parts.answer


def _check_points(points: object) -> float | None:
    """Points of a metric function as a number in [0, 1], but for rounding; None if unread."""
    if points is None:
        return None
    value = float(points) if isinstance(points, SupportsFloat) else nan
    if not -_ROUNDING <= value <= 1 + _ROUNDING:
        raise ValueError(f"{points!r:.60} (expected points from 0 to 1, or None)")
    return min(1.0, max(0.0, value))


def _import_metric(metric: str) -> Points:
    """Import a metric function, named as "module:function"."""
    module, _, name = metric.partition(":")
    try:
        function = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"metric {metric}: {error}. Is its folder on PYTHONPATH?") from error
    if not callable(function):
        raise SettingsError(f"metric {metric}: expected a function (response, question) -> points")
    points: Points = function
    return points
