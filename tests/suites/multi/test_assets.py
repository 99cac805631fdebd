"""The mini edition as a graph: what reaches the tables, and what is caught on the way."""

import dagster as dg
import pytest

from bench_assets.core.schema.rows import Question, Rejection, Score
from bench_assets.suites.multi.assets import ablations
from bench_assets.suites.multi.construction.selection import EliteChoice, SelectionDecision
from bench_assets.suites.multi.construction.transformations import SolverAnswer, Transformation
from bench_assets.suites.multi.dataset.questions import KnowledgeLink
from bench_assets.suites.multi.studies import CONDITIONS, InformationGain
from bench_assets.suites.multi.task import TASK
from tests.suites.multi.bench import LEFT_HALF, Bench

OCR = dg.AssetSelection.assets(["multi", "ocr_for_images", "ocr"]).downstream()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The mini edition, built once; only the OCR engine, which takes seconds, is left out."""
    bench = Bench(tmp_path_factory.mktemp("home"))
    bench.build(dg.AssetSelection.all() - OCR)
    return bench


def test_the_mini_edition_becomes_questions_whose_images_are_stored(built):
    questions = built.read(Question, "questions")
    assert len(questions) >= 60
    assert {question.edition for question in questions} == {"mini"}
    assert all(built.images.path(image).exists() for q in questions for image in q.images)
    assert {question.labels["images"] for question in questions} == {"NI", "SI", "MI"}
    assert {question.category for question in questions} == {"SA", "MA", "FB", "OP", "Other"}


def test_every_planted_fault_is_caught_and_nothing_else(built):
    reasons = {row.entry: row.reason for row in built.read(Rejection, "rejections")}
    assert set(reasons) == {
        *(f"item czsx_{n}_0" for n in (80, 81, 82, 83, 84, 87, 88, 90)),
        *(f"question czsx_{n}_0" for n in (85, 86)),
        "item gzls_90_0",
        "item czwl_90_0",
    }
    assert reasons["item czwl_90_0"].startswith("nearly the same as czwl_1_0")
    assert [row.entry for row in built.read(Rejection, "unusable_files")] == [
        "images/czsx/86_1.png",
        "knowledge 空缺",
    ]


def test_selection_keeps_the_first_of_each_piece_and_passes_others_over(built):
    decisions = built.read(SelectionDecision, "selection")
    assert all(one.picked for one in decisions if one.rank == 0)
    passed_over = {one.problem_id for one in decisions if not one.picked}
    assert passed_over
    assert {one.knowledge for one in decisions if not one.picked} == {"一次函数", "交通标志"}
    asked = {question.group_id for question in built.read(Question, "questions")}
    assert not asked & passed_over


def test_all_six_transformations_are_applied_and_the_others_wait_for_review(built):
    rows = built.read(Transformation, "transformations")
    assert {row.name for row in rows if not row.fault} == {
        "choose_elements",
        "split_blanks",
        "negate",
        "to_blank",
        "distill",
        "deepen",
    }
    assert all(row.proof for row in rows if not row.fault)
    waiting = built.read(Transformation, "transformation_review")
    assert waiting == [row for row in rows if row.fault]
    assert 0 < len(waiting) < len(rows)
    assert built.read(SolverAnswer, "solver_answers") == []


def test_a_table_with_joined_cells_is_a_image_in_the_store(built):
    (asked,) = [q for q in built.read(Question, "questions") if q.question_id == "multi/gzsx_4_0"]
    assert built.images.open(asked.images[0]).width > 100


def test_the_ablations_ask_what_they_should(built):
    questions = built.read(Question, "questions")
    shown = [question for question in questions if question.images]
    described = built.read(Question, "captions_for_images", "questions")
    assert [q.question_id for q in described] == [q.question_id for q in shown]
    assert all(not question.images for question in described)
    untold = [q.question_id for q in described if not all(q.image_texts)]
    assert untold == ["multi/gzsx_4_0"], "only the table that was drawn here has no caption"
    blank = built.read(Question, "blank_image", "questions")
    assert all(question.images for question in blank)
    informed = built.read(Question, "with_knowledge", "questions")
    assert [q.question_id for q in informed] == [q.question_id for q in questions]
    links = built.read(KnowledgeLink, "with_knowledge", "knowledge_links")
    assert {link.how for link in links} == {"attached", "named in the text", "uncovered"}
    assert any(len(q.images) > len(o.images) for q, o in zip(informed, questions, strict=True))
    hard = built.read(Question, "elite", "questions")
    assert 0 < len(hard) <= len(questions) // 4
    chosen = {
        one.question_id for one in built.read(EliteChoice, "elite", "elite_choices") if one.selected
    }
    assert {question.question_id for question in hard} == chosen


def test_every_condition_can_be_asked_of_its_questions(built):
    for name, condition in TASK.conditions.items():
        if name == "ocr_for_images":
            continue
        table = [name, "questions"] if condition.own_questions else ["questions"]
        for question in built.read(Question, *table):
            assert condition.prompt(question).turns


def test_information_gain_reads_the_scores_of_all_conditions(built, tmp_path):
    questions = built.read(Question, "questions")
    for condition in CONDITIONS:
        key = ["multi", *([] if condition == "main" else [condition]), "scores"]
        points = 1.0 if condition == "main" else 0.0
        rows = [
            Score(question_id=q.question_id, model="m", condition=condition, points=points)
            for q in questions
        ]
        built.tables.write(key, rows, Score, "m")
    built.materialize([*LEFT_HALF, ablations.information_gain], [ablations.information_gain], "m")
    rows = built.read(InformationGain, "information_gain", model="m")
    assert [(row.condition, row.category) for row in rows][:2] == [("main", "SI"), ("main", "MI")]
    assert rows[0].gain > 0
