"""Cost of an evaluation: requests are built and looked up, but not sent."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from math import ceil

from bench_assets.annotation.gold import GoldStep
from bench_assets.asset_factory.configured_runner import configured_verdicts
from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.asset_factory.gold_assets import solvers_of
from bench_assets.asset_factory.question_subset import WHOLE, QuestionSubset
from bench_assets.core.judging.second_look import ConstrainedReader
from bench_assets.core.schema.chat import NOT_CACHED, ChatModel, Prompt, Request, Response
from bench_assets.core.schema.rows import Question
from bench_assets.defs.observed_inputs import build_models
from bench_assets.evaluation.readers import ReaderVerdicts
from bench_assets.evaluation.runner import GeneratedResponses, ModelVerdicts, Runner
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import Task
from bench_assets.workspace.inspect.stale_numbers import print_stale_questions
from bench_assets.workspace.materialization.backfill import build_questions
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.sections.base import SamplingSection
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.api.budget import cost
from bench_resources.models.registry.baselines import BlindModel
from bench_resources.models.registry.elicited_model import ElicitedModel
from bench_resources.models.registry.engines import engine_kind
from bench_resources.models.registry.opening import Models
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.response_cache.rows import ResponseAverages, TokenCounts

_TOKENS_PER_IMAGE = 1000  # tokens: order of magnitude for Qwen2.5-VL, LLaVA-NeXT and GPT-4o
_LETTERS_PER_TOKEN = 4  # letters per token of Latin text; any other character counts as a token
_AFTER_LATIN = "\u0250"  # first character after the Latin blocks of Unicode


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Estimated requests, tokens, time and money of a model or judge on one task."""

    task: str
    condition: str
    asked: str  # "model", "judge", which includes the reader, or "solver" of proposed questions
    model: str
    requests: int  # distinct; for a judge an upper bound while responses are missing
    cached: int  # requests with a cached response
    prompt_tokens: int  # of uncached requests, from text lengths and the number of images
    completion_tokens: int  # of uncached requests, by the mean of earlier responses or max_tokens
    seconds: float | None  # from earlier responses; None if there are none, 0 if all are cached
    money: float  # at the prices of bench.toml; 0 without prices


def build_missing_questions(bench: Workbench, suites: Sequence[str]) -> None:
    """Build missing questions of suites and tasks, except where models help to build them.

    Raises:
        BenchError: If they cannot be built.
    """
    for name in suites:
        model_tasks = [task for task in bench.catalog.tasks_of(name) if task.asked_of == "model"]
        is_built = all(bench.tables.exists(questions_key(task, "main")) for task in model_tasks)
        if not is_built and not build_models(bench.settings, bench.catalog.suite(name).name):
            build_questions(bench, name)


def dry_run(
    bench: Workbench,
    suites: Sequence[str],
    model: str,
    condition: str = "main",
    subset: QuestionSubset = WHOLE,
) -> list[Estimate]:
    """Estimate an evaluation and its suites' solvers from their tables; no request is sent.

    Tables that only ``condition`` needs are built first. Tasks of encoders, and tasks without a
    question in the subset, are left out.

    Raises:
        UnknownNameError: If there is no such suite, model or condition.
        TableError: If a question table was never built.
        BenchError: If a model cannot be used, or a table for ``condition`` cannot be built.
    """
    named_tasks = [task for name in suites for task in bench.catalog.tasks_of(name)]
    tasks = {task.name: task for task in named_tasks}.values()  # a suite and its task may be named
    print_stale_questions(bench, tasks)
    estimates: list[Estimate] = []
    with bench.models(asks=False) as models:
        for suite in dict.fromkeys(task.suite for task in tasks):
            if step := bench.catalog.suite(suite).gold:
                estimates += _solver_estimates(bench, models, step)
        for task in tasks:
            if task.asked_of != "model":
                continue
            questions = subset.select(task, bench.questions(task, condition))
            if questions or subset == WHOLE:
                estimates += _task_estimates(bench, models, task, questions, model, condition)
    return estimates


def tokens_in(prompt: Prompt) -> int:
    """Estimate how many tokens a prompt has.

    >>> tokens_in(Prompt.of("Is it up?!? "))  # twelve characters
    3
    >>> tokens_in(Prompt.of("上下"))
    2
    """
    text = "".join(part for turn in prompt.turns for part in turn.parts if isinstance(part, str))
    n_latin = sum(letter < _AFTER_LATIN for letter in text)
    n_other = len(text) - n_latin
    return ceil(n_latin / _LETTERS_PER_TOKEN) + n_other + _TOKENS_PER_IMAGE * len(prompt.images)


def _solver_estimates(bench: Workbench, models: Models, step: GoldStep) -> list[Estimate]:
    """Estimate the solvers of a suite; [] without solvers, or if a table of theirs is missing."""
    keys = {name: table.key.split("/") for name, table in step.reads.items()}
    is_built = all(map(bench.tables.exists, keys.values()))
    counters: dict[str, _RequestCounter] = {}

    def count(solver: str, requests: list[Request]) -> list[Response]:
        counter = _RequestCounter(models, solver, placeholder=_NO_VERDICT)
        return counters.setdefault(solver, counter).response(requests)

    solvers = solvers_of(step, bench.settings, models) if is_built else []
    if solvers:
        tables = {name: bench.tables.read(keys[name], step.reads[name].row) for name in keys}
        step.vote(step.candidates(**tables), solvers, count)
    return [counter.estimate(f"{step.folder}/proposals", "solver") for counter in counters.values()]


def _task_estimates(
    bench: Workbench,
    models: Models,
    task: Task,
    questions: Sequence[Question],
    model: str,
    condition: str,
) -> list[Estimate]:
    """Estimate a model's responses to questions, and the verdicts of judges and readers on them."""
    counter = _RequestCounter(models, model, condition)
    judge_counters: dict[str, _RequestCounter] = {}

    def count_verdicts(name: str) -> AbstractContextManager[ChatModel]:
        judge_counter = _RequestCounter(models, name, placeholder=_NO_VERDICT)
        return nullcontext(judge_counters.setdefault(name, judge_counter))

    judge_name = bench.settings.suite(task.suite, SuiteSettings).judge
    verdicts = configured_verdicts(task, models, judge_name, count_verdicts, model)
    if isinstance(verdicts, ReaderVerdicts) and verdicts.null_test:
        silent_test = replace(verdicts.null_test, record=lambda figures: None)
        verdicts = replace(verdicts, null_test=silent_test)
    runner = Runner(
        task=task,
        condition=condition,
        responses=replace(GeneratedResponses.of(counter), draws=models.named(model).draws),
        judge=verdicts,
    )
    predictions = runner.predictions(questions)
    if isinstance(verdicts, ModelVerdicts | ReaderVerdicts):
        runner.judgements(questions, predictions)
    judges = [judge.estimate(task.name, "judge") for judge in judge_counters.values()]
    return [counter.estimate(task.name, "model"), *judges]


_PLACEHOLDER = Response(text="?")
_NO_VERDICT = Response(error="not asked")  # not an unreadable text, which is requested again


class _RequestPendingError(Exception):
    """Raised instead of sending the first request."""


class _EmptyCache:
    """The cache of a model that is only counted."""

    signature = ""

    def __init__(self, name: str) -> None:
        self.name = name

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Report each request as not cached."""
        return [Response(error=NOT_CACHED) for _ in requests]


class _RequestCounter:
    """A chat model that records the requests for another model instead of sending them."""

    signature = ""
    elicits = ("constrained",)  # the other model may differ: see ``ConstrainedReader``

    def __init__(
        self,
        models: Models,
        name: str,
        condition: str = "main",
        placeholder: Response = _PLACEHOLDER,
    ) -> None:
        self.name = name
        self._placeholder = placeholder
        self._models = models
        self._condition = condition
        self._requests: list[Request] = []
        self._n_distinct = self._n_cached = 0
        self._averages = ResponseAverages()
        self._spec = models.named(name).base.spec

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Record requests; returns local or cached responses if all exist, else placeholders."""
        self._requests += requests
        if engine_kind(self._spec) is None:  # computed locally, without requests
            self._n_distinct += len(requests)
            self._n_cached += len(requests)
            with self._models.open(self.name, self._condition) as model:
                return model.response(requests)
        try:
            with self._models.open(self.name, self._condition, self._count) as model:
                unwrapped: object = model
                while isinstance(unwrapped, BlindModel | ElicitedModel):
                    unwrapped = unwrapped.inner
                if isinstance(unwrapped, CachingModel):
                    self._averages = unwrapped.averages()
                return ConstrainedReader(model).response(requests)
        except _RequestPendingError:
            return [self._placeholder for _ in requests]

    def cached(self) -> ChatModel:
        """Return an empty cache, because the other model looks up the requests itself."""
        return _EmptyCache(self.name)

    def estimate(self, task: str, role: str) -> Estimate:
        """Estimate the tokens, time and cost of the recorded requests, for ``asked`` = ``role``."""
        n, spec, averages = self._n_distinct - self._n_cached, self._spec, self._averages
        max_tokens = spec.max_tokens if isinstance(spec, SamplingSection) else 0
        prompt_tokens = [tokens_in(request.prompt) for request in self._requests] or [0]
        tokens = TokenCounts(
            prompt=round(n * sum(prompt_tokens) / len(prompt_tokens)),
            completion=round(n * (averages.tokens or max_tokens)),
        )
        concurrency = spec.initial_concurrency if isinstance(spec, ServerSpec) else 1
        seconds = None if averages.seconds is None else n * averages.seconds / concurrency
        return Estimate(
            task=task,
            condition=self._condition,
            asked=role,
            model=self.name,
            requests=self._n_distinct,
            cached=self._n_cached,
            prompt_tokens=tokens.prompt,
            completion_tokens=tokens.completion,
            seconds=seconds if n else 0.0,
            money=cost(spec, tokens) if isinstance(spec, ServerSpec) else 0.0,
        )

    def _count(self, n_done: int, n_cached: int, n_total: int) -> None:
        """Stop before the first request is sent; called with the progress of a generation."""
        self._n_distinct += n_total
        self._n_cached += n_cached
        if n_done < n_total:
            raise _RequestPendingError
