"""Operations of ``bench audit``: audits tasks, and measures judges.

A judge is measured on responses that are right or wrong by construction, and on responses with
human verdicts.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import dagster as dg

from bench_assets.asset_factory.evaluation_assets import evaluation_key
from bench_assets.audit.framework.evidence import JudgeFigure
from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.judges.human_agreement import (
    JudgeRun,
    figures_of_labels,
    figures_of_trials,
    pair_with_labels,
    read_labels,
    second_judge_figures,
)
from bench_assets.audit.judges.judge_trials import JudgeTrial, Trial, make_trials, run_trials
from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.core.schema.rows import Judgement, Prediction
from bench_assets.core.schema.signature import format_judge_setup, short_digest
from bench_assets.defs.tables.audit import audit_key
from bench_assets.evaluation.suite import SuiteSettings
from bench_assets.evaluation.task import ChosenJudge, Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.sections.base import PriceSection
from bench_resources.models.api.budget import cost
from bench_resources.models.registry.setup import setup_of
from bench_resources.response_cache.rows import TokenCounts
from bench_resources.tables.measured_figures import add_figures


def audit_tasks(
    bench: Workbench, names: Sequence[str] = ()
) -> tuple[list[AuditRow], list[BenchError]]:
    """Audit tasks; a task that cannot be audited does not stop the others.

    Args:
        bench: The home folder.
        names: Suites and tasks; (): all tasks with questions for models.

    Returns:
        The findings, and the reason for each task that was not audited.

    Raises:
        UnknownNameError: If there is no such suite or task; nothing was started.
        SettingsError: If none of them has questions for models.
    """
    named = [task for name in names or bench.catalog.names for task in bench.catalog.tasks_of(name)]
    tasks = {task.name: task for task in named if task.asked_of == "model"}
    if named and not tasks:
        only = ", ".join(task.name for task in named)
        raise SettingsError(f"{only}: evaluates encoders (expected a task that evaluates models)")
    rows: list[AuditRow] = []
    failures: list[BenchError] = []
    for task in tasks.values():
        try:
            if not task.measured_by:  # imported tasks have no source
                bench.refresh_questions(task.name)
            bench.materialize(dg.AssetSelection.assets(audit_key(task)))
            rows += bench.tables.read(audit_key(task).path, AuditRow)
        except BenchError as error:
            failures.append(error)
    return rows, failures


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCheckResult:
    """Accuracy figures of a judge, and the cost of measuring them."""

    judge: str
    figures: list[JudgeFigure]
    n_questions: int  # with constructed responses
    n_asked: int  # requests
    tokens: TokenCounts  # as counted by the judge's server, cached responses included
    money: float  # at the prices of bench.toml; 0 without prices


def check_judge(
    bench: Workbench,
    task: Task,
    judge: str = "",
    *,
    n_questions: int = 25,
    beside: str = "",
    labels: Path | None = None,
) -> JudgeCheckResult:
    """Measure a judge of a task, and store the figures in the home.

    Args:
        bench: The home.
        task: The judged task; its questions are built if missing.
        judge: As for ``--judge``; "": the configured judge.
        n_questions: Number of questions to construct responses for.
        beside: A second judge, for the same responses.
        labels: JSON lines of human verdicts on responses that this judge judged in this home.

    Raises:
        BenchError: If the judge does not use a model, or its model cannot be opened.
    """
    chosen = _require_model_judge(bench, task, judge)
    bench.refresh_questions(task.name)
    trials = _make_trials(bench, task, n_questions)
    tried, counted = _run_trials(bench, task, trials, chosen)
    figures = figures_of_trials(
        tried, judge_run := _judge_run(bench, task, chosen, counted.name, tried)
    )
    if beside:
        second = _run_trials(bench, task, trials, _require_model_judge(bench, task, beside))[0]
        figures += second_judge_figures(tried, second, judge_run, beside)
    if labels:
        figures += figures_of_labels(
            _verdict_pairs(bench, task, judge_run.judge, labels), judge_run
        )
    add_figures(bench.settings.home, JudgeFigure, figures)
    return JudgeCheckResult(
        judge=judge_run.judge,
        figures=figures,
        n_questions=len({trial.base[0] for trial in trials}),
        n_asked=counted.n_asked,
        tokens=counted.tokens,
        money=_cost_of(bench, chosen.model, counted.tokens),
    )


def _make_trials(bench: Workbench, task: Task, n_questions: int) -> list[Trial]:
    if trials := make_trials(bench.questions(task), n_questions):
        return trials
    raise SettingsError(
        f"{task.name}: right and wrong responses cannot be constructed for its questions"
    )


def _cost_of(bench: Workbench, model: str, tokens: TokenCounts) -> float:
    spec = bench.settings.model(model)
    return cost(spec, tokens) if isinstance(spec, PriceSection) else 0.0


def _judge_run(
    bench: Workbench, task: Task, chosen: ChosenJudge, model: str, tried: Sequence[JudgeTrial]
) -> JudgeRun:
    return JudgeRun(
        task=task.name,
        judge=model if chosen.name == task.default_judge else f"{chosen.name}:{model}",
        setup=format_judge_setup(chosen.name, setup_of(chosen.model, bench.settings)),
        prompts=_digest(tried),
        at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _require_model_judge(bench: Workbench, task: Task, judge: str) -> ChosenJudge:
    named = judge or bench.settings.suite(task.suite, SuiteSettings).judge
    chosen = task.chosen_judge(named)
    if not chosen.model:
        raise SettingsError(f"{task.name}: judge {named!r} uses no model. Name one that does")
    return chosen


def _run_trials(
    bench: Workbench, task: Task, trials: Sequence[Trial], chosen: ChosenJudge
) -> tuple[list[JudgeTrial], "_CountingModel"]:
    with ExitStack() as stack:
        models = stack.enter_context(bench.models())
        counted = _CountingModel(stack.enter_context(models.open(chosen.model)))
        return run_trials(task, trials, counted, chosen.name), counted


def _digest(tried: Sequence[JudgeTrial]) -> str:
    prompts = sorted(prompt for one in tried for prompt in one.prompts)
    return short_digest(sha256("\n".join(prompts).encode()).hexdigest())


def _verdict_pairs(bench: Workbench, task: Task, judge: str, file: Path) -> list[tuple[bool, bool]]:
    """Pair human verdicts with this judge's, over the responses of all models in the home."""
    labels = read_labels(file)
    questions = {one.question_id: one for one in bench.questions(task)}
    prediction_key, judgement_key = (
        evaluation_key(task, "main", name) for name in ("predictions", "judgements")
    )
    pairs = []
    for model in bench.tables.partitions(judgement_key):
        rows = [r for r in bench.tables.read(judgement_key, Judgement, model) if r.judge == judge]
        own = [label for label in labels if label.model in ("", model)]
        if rows and own:
            predictions = bench.tables.read(prediction_key, Prediction, model)
            pairs += pair_with_labels(task, questions, predictions, rows, own)
    if not pairs:
        raise SettingsError(
            f"{file}: none of its labels is on a response that {judge} judged. First evaluate a "
            f"model"
            f" with --judge {judge}"
        )
    return pairs


class _CountingModel:
    """A chat model that counts its requests."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.name, self.signature = model.name, model.signature
        self.n_asked = 0
        self.tokens = TokenCounts()

    def response(self, requests: Sequence[Request]) -> list[Response]:
        """Answer each request, in order."""
        responses = self._model.response(requests)
        self.n_asked += len(requests)
        self.tokens = TokenCounts(
            prompt=self.tokens.prompt + sum(r.prompt_tokens or 0 for r in responses),
            completion=self.tokens.completion + sum(r.completion_tokens or 0 for r in responses),
        )
        return responses
