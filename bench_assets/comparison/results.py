"""The short form of a result: a number, what it is compared with, what qualifies it, what is next.

``bench evaluate``, Python and the report's page of a number show the same facts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import isnan
from shlex import quote

from bench_assets.asset_factory.evaluation_tables import (
    describe_questions,
    evaluation_key,
    questions_key,
)
from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.core.schema.elicitation import is_elicited
from bench_assets.core.schema.errors import TableError
from bench_assets.core.schema.metric_text import (
    WARNED_UNREAD,
    caveats,
    format_interval,
    format_part,
    format_percent,
    format_value,
    is_hidden,
    unread_bounds,
)
from bench_assets.core.schema.rows import IMPORTED, Metric, Question
from bench_assets.core.schema.signature import partial_part
from bench_assets.core.schema.training_runs import comparison_models, parse_step
from bench_assets.evaluation.checked_scores import CHECKED
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.models import (
    CALLERS_FUNCTION,
    EMBEDDED_MODELS,
    PythonSpec,
    RecordedSpec,
    baselines,
)
from bench_resources.tables.parquet import TableFiles

_DRAWN = 50
"""Responses that a person is asked to look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The primary metric of a model on a task, over all evaluated questions.

    Attributes:
        title: Model, task and edition, with what sets the number apart from others of the task.
        row: The metric.
        reference: Value of the best blind baseline; None if none is known.
        verdict: "better" or "worse" than it, by the whole interval; "undecided"; "" without one.
        facts: Labels with their texts: the number, chance, the best blind baseline, the previous
            checkpoint, what qualifies the number, and commands to run next.
    """

    title: str
    row: Metric
    reference: float | None
    verdict: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class HomeResults:
    """Builds results from the tables of a home."""

    settings: Settings
    tables: TableFiles
    tasks: Mapping[str, Task]
    """By name: tasks whose results are built, or that share the error budget of a run."""

    def of(self, metrics: Sequence[Metric]) -> list[Result]:
        """The results among metrics: one for each primary metric over all questions."""
        whole = [row for row in metrics if row.category == "all"]
        primary = {(name, task.primary_metric) for name, task in self.tasks.items()}
        rows = [row for row in whole if (row.task, row.metric) in primary]
        chance_by_task = {
            name: describe_questions(self.tables, self.tasks[name]).chance
            for name in {row.task for row in rows}
        }
        chances: dict[tuple[str, str, str], float] = {}
        pass_rows: dict[tuple[str, str, str], Metric] = {}
        for row in whole:
            key = row.task, row.model, row.condition
            if row.metric == "chance":
                chances[key] = row.value
            elif row.metric.startswith("pass@"):  # the last row has the most responses
                pass_rows[key] = row
        results = []
        for row in rows:
            key = row.task, row.model, row.condition
            chance = chances.get(key, chance_by_task[row.task])
            results.append(self._build_result(row, chance, pass_rows.get(key)))
        return results

    def compared_with(self, task: Task, model: str) -> list[str]:
        """Models that the facts of a stored result refer to."""
        key = evaluation_key(task, "main", "metrics")
        names = {*self.tables.partitions(key)} & baselines(self.settings.models)
        return [*sorted(names), *_previous_checkpoints(self.tables, task, model)]

    def _build_result(self, row: Metric, chance: float | None, pass_row: Metric | None) -> Result:
        task = self.tasks[row.task]
        tables = partial_tables(self.tables.home) if partial_part(row.signature) else self.tables
        references = self._baselines(tables, task, row)
        if chance is not None and row.condition == "main":
            references["chance"] = chance
        best = min if task.is_lowest_best else max
        name = best(references, key=references.__getitem__, default="")
        reference = references.get(name)
        verdict, best_blind = _compare(task, row, reference, name)
        _, against_chance = _compare(task, row, references.get("chance"))
        best_blind = best_blind or "unknown"
        if row.baselines:
            best_blind += f" ({row.baselines})"
        facts = {row.metric: _format_number(row)}
        if pass_row:
            facts[pass_row.metric] = _format_number(pass_row)
        facts |= {
            "n": ", ".join([str(row.n_scored), *caveats(row)]),
            "chance": against_chance,
            "best blind": best_blind,
            "previous": "; ".join(self._changes(tables, task, row)),
            "unread": _format_unread_effect(row),
        }
        shown = [(label, text) for label, text in facts.items() if text]
        shown += [("next", command) for command in self._next_commands(task, row)]
        measured_by = f"{IMPORTED}{task.measured_by}" if task.measured_by else ""
        condition = row.condition if row.condition != "main" else ""
        details = f"{row.edition} edition", condition, measured_by, format_part(row)
        return Result(
            title=", ".join([f"{row.model} on {row.task}", *filter(None, details)]),
            row=row,
            reference=reference,
            verdict=verdict,
            facts=tuple(shown),
        )

    def _baselines(self, tables: TableFiles, task: Task, row: Metric) -> dict[str, float]:
        """Values of blind baselines on the same questions, by name; without unreadable ones."""
        values = {} if row.constant is None else {"the best constant response": row.constant}
        key = evaluation_key(task, row.condition, "metrics")
        for name in sorted(baselines(self.settings.models) - {row.model}):
            with suppress(TableError):
                rows = tables.read(key, Metric, name) if tables.exists(key, name) else []
                comparable = (baseline for baseline in rows if _is_comparable(baseline, row))
                baseline = next(comparable, None)
                if baseline and not isnan(baseline.value):
                    values[name] = baseline.value
        return values

    def _changes(self, tables: TableFiles, task: Task, row: Metric) -> Iterator[str]:
        """Paired comparisons with the previous checkpoint, as in the regression check."""
        if row.condition != "main":
            return
        for previous in _previous_checkpoints(tables, task, row.model):
            try:
                yield from self._changes_since(previous, tables, task, row)
            except TableError as error:
                yield str(error)

    def _changes_since(
        self, previous: str, tables: TableFiles, task: Task, row: Metric
    ) -> Iterator[str]:
        from bench_assets.comparison.runs import compare_models, n_measured, run_alpha
        from bench_assets.comparison.verdicts import NOT_COMPARABLE, decide

        effects = compare_models(tables, task, previous, row.model, questions=self.tables)
        models = tables.partitions(evaluation_key(task, "main", "metrics"))
        n_tasks = n_measured(tables, self.tasks.values(), previous)
        for effect in decide(effects, run_alpha(row.model, models, n_tasks)):
            remedy = f"; {effect.remedy}" if effect.remedy else ""
            if effect.verdict == NOT_COMPARABLE:
                yield f"{previous}: {effect.shown_verdict}{remedy}"
            elif effect.category == "all":
                value, _ = effect.shown_values
                judge = "without people: " if row.people.startswith(CHECKED) else ""
                change = f"{judge}{effect.change:+.3f}, {effect.interval}"
                yield f"{value}, {previous}: {effect.shown_verdict} ({change}){remedy}"

    def _next_commands(self, task: Task, row: Metric) -> Iterator[str]:
        """Commands that make the number more certain or explain it; the last shows the report."""
        condition = "" if row.condition == "main" else f" --condition {row.condition}"
        model_option = self._model_option(row.model)
        evaluate_again = f"bench evaluate {task.name} {model_option}{condition}"
        is_stored = row.condition == "main" and not partial_part(row.signature)
        if (row.unread or 0.0) > WARNED_UNREAD and is_stored and task.is_checked_by_people:
            yield f"bench annotate verdicts {task.name} --n {_DRAWN} --model {row.model}"
        is_doubtful = max(row.unread or 0.0, row.named or 0.0) > WARNED_UNREAD
        if model_option and is_doubtful and task.is_read and not row.asked_again:
            yield f"{evaluate_again} --reader MODEL"
        if model_option and partial_part(row.signature) and self._can_be_completed(task, row):
            yield evaluate_again
        if row.n_rejected and task.rejections:
            yield f"bench tables show {task.rejections}"
        yield "bench report --open"

    def _can_be_completed(self, task: Task, row: Metric) -> bool:
        """Whether all questions can be evaluated as the part was: likelihoods need options."""
        if not is_elicited(row.signature):
            return True
        questions = self.tables.read(questions_key(task, row.condition), Question)
        return all(question.is_single_choice for question in questions)

    def _model_option(self, model: str) -> str:
        """The option of ``bench evaluate`` that selects a model; "" if no command can."""
        spec = {**EMBEDDED_MODELS, **self.settings.models}.get(model)
        is_named = spec or model in self.settings.encoders or "+" in model or parse_step(model)
        if not is_named or (isinstance(spec, PythonSpec) and spec.function == CALLERS_FUNCTION):
            return ""
        if isinstance(spec, RecordedSpec) and model not in self.settings.models_of_file:
            return f"--responses {quote(str(spec.place))}"
        return f"--model {model}"


def _is_comparable(baseline: Metric, row: Metric) -> bool:
    """Whether a baseline's number is the same metric, measured alike on the same questions."""
    from bench_assets.comparison.causes import PROMPT
    from bench_assets.comparison.comparable import incomparable_causes

    if (baseline.metric, baseline.category) != (row.metric, "all"):
        return False
    if baseline.questions != row.questions:
        return False
    return set(incomparable_causes(baseline, row)) <= {PROMPT}  # a baseline may see no image


def _previous_checkpoints(tables: TableFiles, task: Task, model: str) -> list[str]:
    """The previous step of the run of a model; [] without one."""
    key = evaluation_key(task, "main", "metrics")
    return comparison_models(
        model, tables.partitions(key), partial(tables.written, key), baseline=""
    )


def _format_number(row: Metric) -> str:
    value, interval = format_value(row), format_interval(row)
    return f"{value} (95 % interval {interval})" if interval else value


def _compare(task: Task, row: Metric, reference: float | None, name: str = "") -> tuple[str, str]:
    """Verdict on a number against a reference, and a text of both; "" without a reference."""
    if reference is None:
        return "", ""
    sign = -1 if task.is_lowest_best else 1
    low, high = sorted((sign * row.low, sign * row.high))
    verdict = "undecided"
    if not (isnan(row.low) or is_hidden(row)):
        if low > sign * reference:
            verdict = "better"
        elif high < sign * reference:
            verdict = "worse"
    verdict_text = "not shown to be better" if verdict == "undecided" else verdict
    reference_text = f"{reference:.3f}, {name}" if name else f"{reference:.3f}"
    return verdict, f"{reference_text}: {verdict_text}"


def _format_unread_effect(row: Metric) -> str:
    """Format the share of unread responses, and the values that it allows; "" without any."""
    if not row.unread:
        return ""
    share, bounds = f"{format_percent(row.unread)} of the responses", unread_bounds(row)
    if bounds is None:
        return share
    low, high = bounds
    return f"{share}, so {row.metric} is between {low:.3f} and {high:.3f}"
