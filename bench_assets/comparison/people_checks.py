"""Judged numbers corrected by people's verdicts, or marked as not checked."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isclose

from bench_assets.annotation.responses.verdicts import majority_verdicts
from bench_assets.annotation.tasks import PEOPLE, Answer
from bench_assets.core.judging.second_look import is_reader
from bench_assets.core.schema.errors import BenchError, TableError
from bench_assets.core.schema.measured_figures import DrawnUnit
from bench_assets.core.schema.provenance import json_digest
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import Signature
from bench_assets.core.schema.training_runs import parse_step
from bench_assets.core.stats.corrected_means import difference_interval
from bench_assets.core.stats.paired_tests import interval_text
from bench_assets.evaluation.checked_scores import (
    NOT_CHECKED,
    JudgedModel,
    PeopleCheck,
    check_by_people,
    checked_scores,
)
from bench_assets.evaluation.task import RULES, ByRules, Task
from bench_resources.tables.measured_figures import read_figures
from bench_resources.tables.parquet import TableFiles

_EXEMPT_JUDGES = ("", "none", RULES, PEOPLE, "recorded")
"""Judges that are no configured models: there is nothing to check."""


def people_checks(tables: TableFiles, task: Task) -> dict[str, PeopleCheck]:
    """Check the judge's number of each model of a draw; empty without draws or readable tables.

    Unreadable tables are reported by ``bench home verify``.
    """
    try:
        drawn = read_figures(tables.home, DrawnUnit, task.name)
        if not drawn or not task.is_checked_by_people:
            return {}
        form, folder = task.response_tasks[0], task.name.split("/")
        key = form.table("answers").split("/")
        answers = tables.read(key, Answer) if tables.exists(key) else []
        verdicts = majority_verdicts(form.to_rows([a for a in answers if not a.complaint]))
        questions = tables.read([*folder, "questions"], Question)
        found = {}
        for model in dict.fromkeys(unit.model for unit in drawn):
            if tables.exists([*folder, "scores"], model):
                judged = JudgedModel(
                    tables.read([*folder, "predictions"], Prediction, model),
                    tables.read([*folder, "scores"], Score, model),
                )
                if any(score.judge == PEOPLE for score in judged.scores):
                    continue  # its number is people's
                units = [unit for unit in drawn if unit.model == model]
                found[model] = check_by_people(
                    checked_scores(task, questions, judged, verdicts, units)
                )
    except BenchError:
        return {}
    return found


def people_state(tables: TableFiles, task: Task) -> str:
    """Digest of the draws and verdicts that correct a task's numbers; "" without draws."""
    drawn = read_figures(tables.home, DrawnUnit, task.name) if task.is_checked_by_people else []
    key = task.response_tasks[0].table("answers").split("/") if drawn else []
    return json_digest([len(drawn), tables.states(key)]) if drawn else ""


def with_people(tables: TableFiles, task: Task, metrics: Iterable[Metric]) -> list[Metric]:
    """Correct the primary metric of each model that people checked; mark the others.

    A checkpoint that people did not check keeps the judge's number, with the bias at the nearest
    checked one of its run.
    """
    rows, shown = list(metrics), ("main", task.primary_metric, "all")
    places = [n for n, row in enumerate(rows) if (row.condition, row.metric, row.category) == shown]
    checks = people_checks(tables, task) if places else {}
    for place in places:
        rows[place] = _with_people(task, rows[place], checks)
    return rows


def corrected_difference(tables: TableFiles, task: Task, before: str, after: str) -> str:
    """Difference of two models' corrected metrics in words; "" unless people checked both."""
    checks = people_checks(tables, task)
    old, new = (check and check.corrected for check in map(checks.get, (before, after)))
    if not (old and new):
        return ""
    low, high = difference_interval(old, new)
    return (
        f"{task.display_title}, corrected by people: {new.value - old.value:+.3f}"
        f" ({interval_text(low, high)}); without them {new.judge - old.judge:+.3f}, which"
        " the verdict tests"
    )


def judges_of(signature: str) -> list[str]:
    """Names of the judges of a number; [] without a valid signature."""
    try:
        return Signature.parse(signature).parts.get("judge", "").split("+")
    except TableError:
        return []


def unchecked(task: Task, signature: str) -> str:
    """Mark of a number by a judge model that people did not check; "" for other judges."""
    judges = (judge for judge in judges_of(signature) if not is_reader(judge))
    models = [judge for judge in judges if judge not in _EXEMPT_JUDGES]
    is_model = any(not isinstance(task.judges.get(model), ByRules) for model in models)
    return NOT_CHECKED if is_model else ""


def _with_people(task: Task, row: Metric, checks: Mapping[str, PeopleCheck]) -> Metric:
    check = checks.get(row.model)
    if check is None or not check.corrected:
        mark = unchecked(task, row.signature) if check is None else check.sentence
        nearest = _nearest(row.model, checks) if mark else ""
        bias = f"; {checks[nearest].bias} at {nearest}" if nearest else ""
        return replace(row, people=f"{mark}{bias}")
    found = check.corrected
    if not isclose(found.judge, row.value, abs_tol=1e-6):
        return replace(row, people=f"{NOT_CHECKED}: its scores have changed since")
    return replace(
        row,
        value=found.value,
        low=found.low,
        high=found.high,
        people=f"{check.sentence}; {check.details}",
        unread=0.0,  # counts as people judged it
        if_unread_wrong=None,
        if_unread_right=None,
    )


def _nearest(model: str, checks: Mapping[str, PeopleCheck]) -> str:
    """The checked checkpoint of the same run with the nearest step; "" if there is none."""
    step = parse_step(model)
    others = [
        (abs(other.step - step.step), name)
        for name, check in checks.items()
        if step and check.corrected
        for other in [parse_step(name)]
        if other and other.run == step.run
    ]
    return min(others)[1] if others else ""
