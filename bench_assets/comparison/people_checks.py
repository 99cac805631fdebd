"""Judged numbers corrected by people's verdicts, or marked as not checked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isclose

from bench_assets.annotation.responses.verdicts import majority_verdicts
from bench_assets.annotation.tasks import PEOPLE, Answer
from bench_assets.core.judging.second_look import is_reader, split_judges
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

_EXEMPT_JUDGES = (RULES, PEOPLE, "recorded")
"""Judges that are no configured models: there is nothing to check."""


def people_checks(tables: TableFiles, task: Task) -> dict[str, PeopleCheck]:
    """Check the judge's number of each model of a draw; empty without draws or readable tables.

    Unreadable tables are reported by ``bench home verify``.
    """
    try:
        drawn = read_figures(tables.home, DrawnUnit, task.name)
        if not drawn or not task.is_checked_by_people:
            return {}
        return _check_drawn_models(tables, task, drawn)
    except BenchError:
        return {}


def _check_drawn_models(
    tables: TableFiles, task: Task, drawn: Sequence[DrawnUnit]
) -> dict[str, PeopleCheck]:
    """Check each drawn model with scores, except those whose number is already people's."""
    form, folder = task.response_tasks[0], task.name.split("/")
    key = form.table("answers").split("/")
    answers = tables.read(key, Answer) if tables.exists(key) else []
    valid_answers = [answer for answer in answers if not answer.complaint]
    verdicts = majority_verdicts(form.to_rows(valid_answers))
    questions = tables.read([*folder, "questions"], Question)
    checks = {}
    for model in dict.fromkeys(unit.model for unit in drawn):
        if not tables.exists([*folder, "scores"], model):
            continue
        predictions = tables.read([*folder, "predictions"], Prediction, model)
        scores = tables.read([*folder, "scores"], Score, model)
        if any(score.judge == PEOPLE for score in scores):
            continue
        judged = JudgedModel(predictions, scores)
        units = [unit for unit in drawn if unit.model == model]
        checks[model] = check_by_people(checked_scores(task, questions, judged, verdicts, units))
    return checks


def people_state(tables: TableFiles, task: Task) -> str:
    """Digest of the draws and verdicts that correct a task's numbers; "" without draws."""
    drawn = read_figures(tables.home, DrawnUnit, task.name) if task.is_checked_by_people else []
    if not drawn:
        return ""
    key = task.response_tasks[0].table("answers").split("/")
    return json_digest([len(drawn), tables.states(key)])


def with_people(tables: TableFiles, task: Task, metrics: Iterable[Metric]) -> list[Metric]:
    """Correct the primary metric of each model that people checked; mark other judged ones.

    Only numbers over all questions under the condition main are corrected and marked. A checkpoint
    that people did not check keeps the judge's number, with the bias at the nearest checked one of
    its run.
    """
    rows = list(metrics)
    primary = ("main", task.primary_metric, "all")
    indices = [
        index
        for index, row in enumerate(rows)
        if (row.condition, row.metric, row.category) == primary
    ]
    checks = people_checks(tables, task) if indices else {}
    for index in indices:
        rows[index] = _correct_or_mark(task, rows[index], checks)
    return rows


def corrected_difference(tables: TableFiles, task: Task, before: str, after: str) -> str:
    """Sentence on the difference of two corrected metrics; "" unless people checked both models."""
    checks = people_checks(tables, task)
    if not (before in checks and after in checks):
        return ""
    old, new = checks[before].corrected, checks[after].corrected
    if old is None or new is None:
        return ""
    low, high = difference_interval(old, new)
    return (
        f"{task.display_title}, corrected by people: {new.value - old.value:+.3f}"
        f" ({interval_text(low, high)}); without them {new.judge - old.judge:+.3f}, which"
        " the verdict tests"
    )


def judge_names(signature: str) -> list[str]:
    """Names of the judges of a number; [] without any, or without a valid signature."""
    try:
        return split_judges(Signature.parse(signature).parts.get("judge", ""))
    except TableError:
        return []


def unchecked_mark(task: Task, signature: str) -> str:
    """Mark of a number by a judge model that people did not check; "" for other judges."""
    judges = (judge for judge in judge_names(signature) if not is_reader(judge))
    others = [judge for judge in judges if judge not in _EXEMPT_JUDGES]
    has_model = any(not isinstance(task.judges.get(judge), ByRules) for judge in others)
    return NOT_CHECKED if has_model else ""


def _correct_or_mark(task: Task, row: Metric, checks: Mapping[str, PeopleCheck]) -> Metric:
    check = checks.get(row.model)
    if check is None or not check.corrected:
        mark = unchecked_mark(task, row.signature) if check is None else check.sentence
        nearest = _nearest_checkpoint(row.model, checks) if mark else ""
        bias = f"; {checks[nearest].bias} at {nearest}" if nearest else ""
        return replace(row, people=f"{mark}{bias}")
    corrected = check.corrected
    if not isclose(corrected.judge, row.value, abs_tol=1e-6):
        return replace(row, people=f"{NOT_CHECKED}: its scores have changed since")
    return replace(
        row,
        value=corrected.value,
        low=corrected.low,
        high=corrected.high,
        people=f"{check.sentence}; {check.details}",
        unread=0.0,  # unread responses count as people judged them
        if_unread_wrong=None,
        if_unread_right=None,
    )


def _nearest_checkpoint(model: str, checks: Mapping[str, PeopleCheck]) -> str:
    """The checked checkpoint of the same run with the nearest step; "" if there is none."""
    step = parse_step(model)
    if step is None:
        return ""
    distances = {}
    for name, check in checks.items():
        checked_step = parse_step(name)
        if check.corrected and checked_step and checked_step.run == step.run:
            distances[name] = abs(checked_step.step - step.step)
    return min(distances, key=lambda name: (distances[name], name), default="")
