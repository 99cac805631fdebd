"""The short form of a result: a number, what it is compared with, what qualifies it, what is next.

``bench evaluate``, Python and the report's page of a number show the same facts.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import isnan, nan
from shlex import quote

from bench_assets.asset_factory.evaluation_tables import (
    describe_questions,
    evaluation_key,
)
from bench_assets.asset_factory.partial_results import partial_tables
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
from bench_assets.core.schema.rows import IMPORTED, Metric
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
    """Makes results from the tables of a home."""

    settings: Settings
    tables: TableFiles
    tasks: Mapping[str, Task]
    """By name: tasks whose results are made, or that share the error budget of a run."""

    def of(self, metrics: Sequence[Metric]) -> list[Result]:
        """The results among metrics: one for each primary metric over all questions."""
        primary = {(name, task.primary_metric, "all") for name, task in self.tasks.items()}
        rows = [row for row in metrics if (row.task, row.metric, row.category) in primary]
        levels = {name: describe_questions(self.tables, self.tasks[name]).chance
                  for name in {row.task for row in rows}}  # fmt: skip
        measured = {
            (row.task, row.model, row.condition): row.value
            for row in metrics
            if (row.metric, row.category) == ("chance", "all")
        }
        passed = {  # with the most responses: they are in ascending order
            (row.task, row.model, row.condition): row
            for row in metrics
            if row.metric.startswith("pass@") and row.category == "all"
        }
        results = []
        for row in rows:
            key = row.task, row.model, row.condition
            results.append(self._make(row, measured.get(key, levels[row.task]), passed.get(key)))
        return results

    def compared_with(self, task: Task, model: str) -> list[str]:
        """Models whose numbers the facts of a stored result mention."""
        key = evaluation_key(task, "main", "metrics")
        names = {*self.tables.partitions(key)} & baselines(self.settings.models)
        return [*sorted(names), *_previous(self.tables, task, model)]

    def _make(self, row: Metric, chance: float | None, passed: Metric | None) -> Result:
        task = self.tasks[row.task]
        files = partial_tables(self.tables.home) if partial_part(row.signature) else self.tables
        references = self._baselines(files, task, row)
        if chance is not None and row.condition == "main":
            references["chance"] = chance
        best = min if task.is_lowest_best else max
        name = best(references, key=references.__getitem__, default="")
        reference = references.get(name)
        verdict, blind = _compare(task, row, reference, f", {name}")
        facts = {
            row.metric: _number(row),
            **({passed.metric: _number(passed)} if passed else {}),
            "n": ", ".join([str(row.n_scored), *caveats(row)]),
            "chance": _compare(task, row, references.get("chance"))[1],
            "best blind": f"{blind or 'unknown'}{f' ({row.baselines})' if row.baselines else ''}",
            "previous": "; ".join(self._changes(files, task, row)),
            "unread": _unread(row),
        }
        shown = [(label, text) for label, text in facts.items() if text]
        shown += [("next", command) for command in self._next(task, row)]
        measured_by = f"{IMPORTED}{task.measured_by}" if task.measured_by else ""
        condition = row.condition if row.condition != "main" else ""
        parts = f"{row.edition} edition", condition, measured_by, format_part(row)
        return Result(
            title=", ".join([f"{row.model} on {row.task}", *filter(None, parts)]),
            row=row,
            reference=reference,
            verdict=verdict,
            facts=tuple(shown),
        )

    def _baselines(self, files: TableFiles, task: Task, row: Metric) -> dict[str, float]:
        """Values of blind baselines on the same questions, by name."""
        from bench_assets.comparison.causes import PROMPT
        from bench_assets.comparison.comparable import comparable

        known = {} if row.constant is None else {"the best constant response": row.constant}
        key, same = (
            evaluation_key(task, row.condition, "metrics"),
            (row.metric, "all", row.questions),
        )
        for name in sorted(baselines(self.settings.models) - {row.model}):
            with suppress(TableError):
                rows = files.read(key, Metric, name) if files.exists(key, name) else []
                measured = (
                    r.value
                    for r in rows
                    if (r.metric, r.category, r.questions) == same
                    and {PROMPT}.issuperset(comparable(r, row))  # a baseline may see no image
                )
                if not isnan(value := next(measured, nan)):
                    known[name] = value
        return known

    def _changes(self, files: TableFiles, task: Task, row: Metric) -> Iterator[str]:
        """The paired comparison with the previous checkpoint, as the regression check makes it."""
        key = evaluation_key(task, "main", "metrics")
        for other in _previous(files, task, row.model) if row.condition == "main" else ():
            from bench_assets.comparison.runs import compare_models, n_measured, run_alpha
            from bench_assets.comparison.verdicts import NOT_COMPARABLE, decide

            try:
                effects = compare_models(files, task, other, row.model, questions=self.tables)
            except TableError as error:
                yield str(error)
                continue
            alpha = run_alpha(
                row.model, files.partitions(key), n_measured(files, self.tasks.values(), other)
            )
            for effect in decide(effects, alpha):
                remedy = f"; {effect.remedy}" if effect.remedy else ""
                if effect.verdict == NOT_COMPARABLE:
                    yield f"{other}: {effect.shown_verdict}{remedy}"
                elif effect.category == "all":
                    judge = "without people: " if row.people.startswith(CHECKED) else ""
                    change = f"{judge}{effect.change:+.3f}, {effect.interval}"
                    value = effect.shown_values[0]
                    yield f"{value}, {other}: {effect.shown_verdict} ({change}){remedy}"

    def _next(self, task: Task, row: Metric) -> Iterator[str]:
        """Commands that make the number more certain; without doubts, one that shows it."""
        condition = "" if row.condition == "main" else f" --condition {row.condition}"
        responses = self._responses(row.model)
        again = f"bench evaluate {task.name} {responses}{condition}"
        is_stored = row.condition == "main" and not partial_part(row.signature)
        if (row.unread or 0.0) > WARNED_UNREAD and is_stored and task.is_checked_by_people:
            yield f"bench annotate verdicts {task.name} --n {_DRAWN} --model {row.model}"
        doubtful = max(row.unread or 0.0, row.named or 0.0) > WARNED_UNREAD
        if responses and doubtful and task.is_read and not row.asked_again:
            yield f"{again} --reader MODEL"
        if responses and partial_part(row.signature):
            yield again
        if row.n_rejected and task.rejections:
            yield f"bench tables show {task.rejections}"
        yield "bench report --open"

    def _responses(self, model: str) -> str:
        """The option of the command that evaluates a model; "" if no command can."""
        spec = {**EMBEDDED_MODELS, **self.settings.models}.get(model)
        is_named = spec or model in self.settings.encoders or "+" in model or parse_step(model)
        if not is_named or (isinstance(spec, PythonSpec) and spec.function == CALLERS_FUNCTION):
            return ""
        if isinstance(spec, RecordedSpec) and model not in self.settings.models_of_file:
            return f"--responses {quote(str(spec.place))}"
        return f"--model {model}"


def _previous(files: TableFiles, task: Task, model: str) -> list[str]:
    key = evaluation_key(task, "main", "metrics")
    return comparison_models(model, files.partitions(key), partial(files.written, key), "")


def _number(row: Metric) -> str:
    interval = format_interval(row)
    return format_value(row) + (f" (95 % interval {interval})" if interval else "")


def _compare(task: Task, row: Metric, reference: float | None, name: str = "") -> tuple[str, str]:
    """On which side of a reference the whole interval is, and a sentence; "" without one."""
    if reference is None:
        return "", ""
    sign = -1 if task.is_lowest_best else 1
    low, high = sorted((sign * row.low, sign * row.high))
    known = not (isnan(row.low) or is_hidden(row))
    verdict = "better" if low > sign * reference else "worse" if high < sign * reference else ""
    verdict = verdict if known and verdict else "undecided"
    sentence = verdict.replace("undecided", "not shown to be better")
    return verdict, f"{reference:.3f}{name}: {sentence}"


def _unread(row: Metric) -> str:
    """The share of unread responses, and the values that it allows."""
    bounds = unread_bounds(row) if row.unread else None
    between = f", so {row.metric} is between {bounds[0]:.3f} and {bounds[1]:.3f}" if bounds else ""
    return f"{format_percent(row.unread)} of the responses{between}" if row.unread else ""
