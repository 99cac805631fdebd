"""What to do about responses from which no answer was read, or in which it is only named."""

from collections.abc import Iterable, Iterator
from shlex import quote

from bench_assets.asset_factory.asset_metadata import format_percent
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import WARNED_UNREAD, Metric, unread_bounds
from bench_assets.evaluation.task import Task
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.sections.models import RecordedSpec

_DRAWN = 50
"""Responses that a person is asked to look at."""


def unread_messages(bench: Workbench, rows: Iterable[Metric]) -> Iterator[str]:
    """Format the shares of unread and of named answers of each task, with the next command."""
    for row in rows:
        task = bench.catalog.task(row.task)
        if (row.metric, row.category) == (task.primary_metric, "all"):
            yield from _messages(bench, task, row)


def _messages(bench: Workbench, task: Task, row: Metric) -> Iterator[str]:
    condition = "" if row.condition == "main" else f" --condition {row.condition}"
    again = f"bench evaluate {task.name} {_responses(bench, row.model)}{condition}"
    reader = f"{again} --reader MODEL" if task.is_read and not row.asked_again else ""
    look = f"bench annotate review {task.name} --model {row.model}{condition} --draw {_DRAWN}"
    if row.unread:
        warning = "warning: " if row.unread > WARNED_UNREAD else ""
        bounds = unread_bounds(row)
        ends = f"{bounds[0]:.3f} and {bounds[1]:.3f}" if bounds else ""
        value = f", so {row.metric} is between {ends}" if bounds else ""
        yield (
            f"{warning}{task.name}: {format_percent(row.unread)} of the responses are unread"
            f"{value}."
            + (f" To have a model read them: {reader}." if reader else "")
            + f" To look at {_DRAWN}: {look}"
        )
    if (row.named or 0.0) > WARNED_UNREAD:
        yield (
            f"{task.name}: {format_percent(row.named)} of the answers are only named, and of such"
            " readings 6 to 16 % are wrong."
            + (f" To have a model read them: {reader}" if reader else "")
        )


def _responses(bench: Workbench, model: str) -> str:
    """The option of the command that has evaluated a model."""
    try:
        spec = bench.model(model).spec
    except BenchError:
        return f"--model {model}"
    is_given = isinstance(spec, RecordedSpec) and model not in bench.settings.models_of_file
    return f"--responses {quote(str(spec.place))}" if is_given else f"--model {model}"
