from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.annotation.responses.units import response_name
from bench_assets.annotation.tasks import Answer, split_unit_id, unit_id
from bench_assets.comparison.measurements import primary_cells
from bench_assets.comparison.people_checks import (
    corrected_difference,
    people_checks,
    people_state,
    unchecked_mark,
    with_people,
)
from bench_assets.core.schema.measured_figures import DrawnUnit
from bench_assets.core.schema.rows import Metric, Prediction, Question, Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.checked_scores import draw_units
from bench_assets.evaluation.task import ByRules
from bench_assets.suites.codis.task import TASK
from bench_resources.tables.measured_figures import add_figures
from bench_resources.tables.parquet import TableFiles
from tests.evaluation.test_checked_scores import (
    N_PAIRS,
    QUESTIONS,
    is_right_for_people,
    judged_model,
)
from tests.fakes.answers import answer
from tests.fakes.quiz import quiz
from tests.report.fair import metric
from tests.report.pages.test_index import build_index, find_row

SIGNED = "codis|v4|main|data:0c|prompts:0c|model:m|t=0|judge:{}|scorer:strict|n:80"
LABELLED, UNLABELLED = "run/step-0100", "run/step-0300"
MODELS = {LABELLED: judged_model(LABELLED, seed=0), UNLABELLED: judged_model(UNLABELLED, seed=1)}


@pytest.fixture
def tables(tmp_path):
    """A home with two checkpoints judged by ``gpt``; people judged a hundred pairs of the first."""
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["codis", "questions"], QUESTIONS, Question)
    for name, model in MODELS.items():
        tables.write(["codis", "predictions"], model.predictions, Prediction, name)
        tables.write(["codis", "scores"], model.scores, Score, name)
    check_by_people(tables, tmp_path, {LABELLED: MODELS[LABELLED]}, "2026-11-30")
    return tables


def check_by_people(tables, home, models, time):
    """Draw a hundred pairs, and store people's verdicts on the models' responses to them."""
    units = draw_units(TASK, QUESTIONS, models, 100, time)
    add_figures(home, DrawnUnit, units)
    question_ids = {name for unit in units for name in split_unit_id(unit.questions)}
    write_answers(tables, models.values(), question_ids)


def write_answers(tables, models, question_ids):
    """Store a lenient person's verdicts on the models' responses to these questions."""
    answers = []
    for model in models:
        for row, score in zip(model.predictions, model.scores, strict=True):
            if row.question_id not in question_ids:
                continue
            pair = int(row.question_id.split("/")[1])
            verdict = "yes" if is_right_for_people(bool(score.points), pair) else "no"
            unit = unit_id(row.question_id, response_name(row.text))
            answers.append(answer(unit, verdict=verdict))
    tables.write(TASK.response_tasks[0].table("answers").split("/"), answers, Answer)


def stored_metrics(tables):
    """Metrics of both checkpoints, signed as of the judge ``gpt``."""
    metrics = []
    for name in MODELS:
        predictions = tables.read(["codis", "predictions"], Prediction, name)
        scores = tables.read(["codis", "scores"], Score, name)
        rows = pipeline.summarise(TASK, QUESTIONS, predictions, scores)
        metrics += [replace(row, signature=SIGNED.format("gpt")) for row in rows]
    return metrics


def primary(rows, model):
    """The row of the primary metric over all questions."""
    key = (model, TASK.primary_metric, "all")
    (row,) = [row for row in rows if (row.model, row.metric, row.category) == key]
    return row


def test_the_number_that_people_checked_is_corrected(tables):
    metrics = stored_metrics(tables)
    corrected = primary(with_people(tables, TASK, metrics), LABELLED)
    judged_value = primary(metrics, LABELLED).value
    scores = tables.read(["codis", "scores"], Score, LABELLED)
    is_right = [is_right_for_people(bool(score.points), n // 2) for n, score in enumerate(scores)]
    people_value = sum(is_right) / (2 * N_PAIRS)
    assert corrected.low < people_value < corrected.high < judged_value
    assert corrected.people.startswith(
        f"checked by people: 100 of {N_PAIRS}; without them {judged_value:.3f}, bias +0."
    )
    assert " halve the interval; kappa 0." in corrected.people


def test_a_checkpoint_without_labels_keeps_the_judges_number_beside_the_nearest_bias(tables):
    metrics = stored_metrics(tables)
    unlabelled = primary(with_people(tables, TASK, metrics), UNLABELLED)
    judged = primary(metrics, UNLABELLED)
    assert (unlabelled.value, unlabelled.low, unlabelled.high) == (
        judged.value, judged.low, judged.high,
    )  # fmt: skip
    assert unlabelled.people.startswith("not checked by people; bias +0.")
    assert unlabelled.people.endswith(f" at {LABELLED}")


def test_scores_that_have_changed_since_the_check_are_not_corrected(tables):
    changed = [replace(row, value=row.value + 0.01) for row in stored_metrics(tables)]
    row = primary(with_people(tables, TASK, changed), LABELLED)
    assert row.value == primary(changed, LABELLED).value
    assert row.people == "not checked by people: its scores have changed since"


def test_a_difference_is_corrected_where_people_checked_both(tmp_path, tables):
    assert corrected_difference(tables, TASK, LABELLED, UNLABELLED) == ""
    check_by_people(tables, tmp_path, MODELS, "2026-12-01")
    stored = stored_metrics(tables)
    before, after = (primary(stored, model).value for model in (LABELLED, UNLABELLED))
    corrected = with_people(tables, TASK, stored)
    old, new = (primary(corrected, model).value for model in (LABELLED, UNLABELLED))
    sentence = corrected_difference(tables, TASK, LABELLED, UNLABELLED)
    assert sentence.startswith(f"CODIS, corrected by people: {new - old:+.3f} (")
    assert f"; without them {after - before:+.3f}, " in sentence


def test_a_number_that_people_judged_themselves_needs_no_correction(tables):
    scores = tables.read(["codis", "scores"], Score, LABELLED)
    by_people = [replace(score, judge="people") for score in scores]
    tables.write(["codis", "scores"], by_people, Score, LABELLED)
    assert people_checks(tables, TASK) == {}


def test_a_damaged_file_of_draws_is_read_as_no_draws(tmp_path, tables):
    (tmp_path / "draws.jsonl").write_text("{no JSON")
    assert people_checks(tables, TASK) == {}


@pytest.mark.parametrize(
    ("judge", "mark"),
    [
        pytest.param("gpt", "not checked by people", id="a model"),
        pytest.param("strict:gpt", "not checked by people", id="a model asked in another way"),
        pytest.param("gpt+rules", "not checked by people", id="a model beside rules"),
        pytest.param("rules", "", id="rules"),
        pytest.param("people", "", id="people"),
        pytest.param("none", "", id="nobody"),
    ],
)
def test_a_judge_model_is_read_from_the_signature(judge, mark):
    assert unchecked_mark(TASK, SIGNED.format(judge)) == mark


def test_rules_that_a_package_adds_need_no_check_unless_a_model_judges_too():
    task = replace(TASK, judges={**TASK.judges, "begins_well": ByRules(lambda _: [])})
    assert unchecked_mark(task, SIGNED.format("begins_well")) == ""
    assert unchecked_mark(task, SIGNED.format("begins_well:gpt")) == "not checked by people"


def test_a_number_without_a_signature_has_no_mark():
    assert unchecked_mark(TASK, "") == ""


def test_the_report_marks_a_number_that_people_did_not_check(tmp_path: Path):
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], quiz(6, categories=3), Question)
    for model, judge in (("judged", "gpt"), ("by-rules", "rules")):
        row = metric(model, 0.9)
        unjudged, _, _ = row.signature.partition("|judge:")
        row = replace(row, signature=f"{unjudged}|judge:{judge}")
        tables.write(["quiz", "metrics"], [row], Metric, model)
    index = build_index(tmp_path, tables)
    assert find_row(index, "judged")["people"] == "not checked by people"
    assert find_row(index, "by-rules")["people"] == ""


def test_the_state_of_verdicts_changes_with_the_verdicts(tables):
    """The report rewrites a page when this state changes."""
    before = people_state(tables, TASK)
    assert before == people_state(tables, TASK) != ""
    write_answers(tables, [MODELS[LABELLED]], {QUESTIONS[0].question_id})
    assert people_state(tables, TASK) not in (before, "")


def test_without_verdicts_of_people_the_state_is_empty(tmp_path):
    assert people_state(TableFiles(folder=str(tmp_path / "tables")), TASK) == ""


def test_the_report_shows_a_corrected_number_without_bounds_of_unread_responses(tables):
    for row in stored_metrics(tables):
        if (row.model, row.metric, row.category) == (LABELLED, TASK.primary_metric, "all"):
            unread = replace(row, unread=0.5, if_unread_wrong=0.2, if_unread_right=0.9)
            tables.write(["codis", "metrics"], [unread], Metric, LABELLED)
    (cell,) = primary_cells(tables, TASK, "main").rows
    assert cell["people"].startswith("checked by people")
    assert (cell["unread"], cell["if_unread_wrong"], cell["if_unread_right"]) == (0.0, None, None)
