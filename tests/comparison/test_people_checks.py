"""Judged numbers in a home: corrected by people, with another checkpoint's bias, or unchecked."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.annotation.responses.units import response_name
from bench_assets.annotation.tasks import Answer, split_unit_id, unit_id
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
from tests.evaluation.test_checked_scores import PAIRS, QUESTIONS, judged, lenient
from tests.fakes.answers import answer
from tests.fakes.quiz import quiz
from tests.report.fair import catalog, metric
from tests.report.pages.test_index import index_of, row_of

SIGNED = "codis|v4|main|data:0c|prompts:0c|model:m|t=0|judge:{}|scorer:strict|n:80"
LABELLED, UNLABELLED = "run/step-0100", "run/step-0300"


@pytest.fixture
def tables(tmp_path):
    """A home with two checkpoints judged by ``gpt``; people judged a hundred pairs of the first."""
    found = TableFiles(folder=str(tmp_path / "tables"))
    found.write(["codis", "questions"], QUESTIONS, Question)
    for seed, name in enumerate((LABELLED, UNLABELLED)):
        model = judged(name, seed)
        found.write(["codis", "predictions"], model.predictions, Prediction, name)
        found.write(["codis", "scores"], model.scores, Score, name)
    labelled = judged(LABELLED, 0)
    drawn = draw_units(TASK, QUESTIONS, {LABELLED: labelled}, 100, "2026-11-30")
    add_figures(tmp_path, DrawnUnit, drawn)
    write_answers(
        found, [labelled], {name for unit in drawn for name in split_unit_id(unit.questions)}
    )
    return found


def write_answers(tables, models, question_ids):
    answers = [
        answer(
            unit_id(row.question_id, response_name(row.text)),
            verdict="yes"
            if lenient(bool(score.points), int(row.question_id.split("/")[1]))
            else "no",
        )
        for model in models
        for row, score in zip(model.predictions, model.scores, strict=True)
        if row.question_id in question_ids
    ]
    tables.write(TASK.response_tasks[0].table("answers").split("/"), answers, Answer)


def metrics(tables):
    """What the evaluation stored of both checkpoints: the primary metric over all questions."""
    found = []
    for name in (LABELLED, UNLABELLED):
        predictions = tables.read(["codis", "predictions"], Prediction, name)
        scores = tables.read(["codis", "scores"], Score, name)
        rows = pipeline.summarise(TASK, QUESTIONS, predictions, scores)
        found += [replace(row, signature=SIGNED.format("gpt")) for row in rows]
    return found


def primary(rows, model):
    (row,) = [
        row
        for row in rows
        if (row.model, row.metric, row.category) == (model, TASK.primary_metric, "all")
    ]
    return row


def test_the_number_that_people_checked_is_corrected(tables):
    before = metrics(tables)
    found = primary(with_people(tables, TASK, before), LABELLED)
    alone = primary(before, LABELLED)
    truth = sum(
        lenient(bool(score.points), number // 2)
        for number, score in enumerate(tables.read(["codis", "scores"], Score, LABELLED))
    ) / (2 * PAIRS)
    assert found.low < truth < found.high < alone.value
    assert found.people.startswith(
        f"checked by people: 100 of {PAIRS}; without them {alone.value:.3f}, bias +0."
    )
    assert " halve the interval; kappa 0." in found.people


def test_a_checkpoint_without_labels_keeps_the_judges_number_beside_the_nearest_bias(tables):
    before = metrics(tables)
    found = primary(with_people(tables, TASK, before), UNLABELLED)
    alone = primary(before, UNLABELLED)
    assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high)
    assert found.people.startswith("not checked by people; bias +0.")
    assert found.people.endswith(f" at {LABELLED}")


def test_scores_that_changed_since_are_not_corrected(tables):
    before = [replace(row, value=row.value + 0.01) for row in metrics(tables)]
    found = primary(with_people(tables, TASK, before), LABELLED)
    assert found.value == primary(before, LABELLED).value
    assert found.people == "not checked by people: its scores have changed since"


def test_a_difference_is_corrected_where_people_checked_both(tmp_path, tables):
    assert corrected_difference(tables, TASK, LABELLED, UNLABELLED) == ""
    models = {name: judged(name, seed) for seed, name in enumerate((LABELLED, UNLABELLED))}
    drawn = draw_units(TASK, QUESTIONS, models, 100, "2026-12-01")
    add_figures(tmp_path, DrawnUnit, drawn)
    names = {name for unit in drawn for name in split_unit_id(unit.questions)}
    write_answers(tables, list(models.values()), names)
    sentence = corrected_difference(tables, TASK, LABELLED, UNLABELLED)
    assert sentence.startswith("CODIS, corrected by people: ")
    assert "; without them " in sentence


def test_a_number_that_people_judged_themselves_needs_no_correction(tables):
    scores = tables.read(["codis", "scores"], Score, LABELLED)
    by_people = [replace(score, judge="people") for score in scores]
    tables.write(["codis", "scores"], by_people, Score, LABELLED)
    assert people_checks(tables, TASK) == {}


def test_a_damaged_file_of_draws_ends_nothing(tmp_path, tables):
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


def test_rules_of_a_package_need_no_check():
    task = replace(TASK, judges={**TASK.judges, "begins_well": ByRules(lambda _: [])})
    assert unchecked_mark(task, SIGNED.format("begins_well")) == ""
    assert unchecked_mark(task, SIGNED.format("begins_well:gpt")) == "not checked by people"
    assert unchecked_mark(TASK, "") == ""


def test_the_report_marks_a_number_that_people_did_not_check(tmp_path: Path):
    tables = TableFiles(folder=str(tmp_path / "tables"))
    tables.write(["quiz", "questions"], quiz(6, categories=3), Question)
    for model, judge in (("judged", "gpt"), ("by-rules", "rules")):
        row = metric(model, 0.9)
        signed = row.signature.partition("|judge:")[0] + f"|judge:{judge}"
        tables.write(["quiz", "metrics"], [replace(row, signature=signed)], Metric, model)
    index = index_of(tmp_path, tables)
    assert catalog(tmp_path).tasks
    assert {m: row_of(index, m)["people"] for m in ("judged", "by-rules")} == {
        "judged": "not checked by people",
        "by-rules": "",
    }


def test_the_state_of_verdicts_changes_with_each_of_them(tables, tmp_path):
    """The report writes a page again by it."""
    before = people_state(tables, TASK)
    assert before == people_state(tables, TASK) != ""
    write_answers(tables, [judged(LABELLED, 0)], {QUESTIONS[0].question_id})
    assert people_state(tables, TASK) != before
    assert people_state(TableFiles(folder=str(tmp_path / "others" / "tables")), TASK) == ""
