"""Other sources as a graph: releases, raw material without annotations, models that write."""

import io
import json

import dagster as dg
import pytest
from PIL import Image
from pydantic import ValidationError

from bench_assets.asset_factory.evaluation_tables import read_rejections
from bench_assets.core.gold.funnel import gold_funnel
from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.schema.errors import ModelError, SettingsError
from bench_assets.core.schema.rows import ImageText, Question, Rejection, Score
from bench_assets.suites.multi.assets import ablations
from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    annotate,
)
from bench_assets.suites.multi.construction.selection import (
    SelectionDecision,
    select,
)
from bench_assets.suites.multi.construction.transformations import (
    Transformation,
)
from bench_assets.suites.multi.dataset.questions import KnowledgeLink
from bench_assets.suites.multi.settings import MultiSettings
from bench_assets.suites.multi.studies import CONDITIONS, InformationGain
from bench_assets.suites.multi.task import TASK
from tests.fakes.fair_exam import unfair
from tests.fakes.multi_rows import item
from tests.suites.multi.bench import LEFT_HALF, Bench
from tests.suites.multi.dataset.test_source import PROBLEM


@pytest.fixture
def release(tmp_path):
    folder = tmp_path / "release"
    (folder / "images" / "czsw").mkdir(parents=True)
    (folder / "images" / "czsw" / "502_1.png").write_bytes(png())
    (folder / "problem_v1.json").write_text(json.dumps({"czsw_0": PROBLEM}))
    (folder / "hard_list_v1.json").write_text('["czsw_0_1"]')
    (folder / "ocr_v1_easyocr.csv").write_text("../data/images/czsw/502_1.png,猫、狗\n")
    return folder


def png():
    file = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(file, "PNG")
    return file.getvalue()


def test_a_release_goes_through_as_it_is(release, tmp_path):
    bench = Bench(tmp_path / "home", release)
    bench.build()
    first, second = bench.read(Question, "questions")
    assert (first.question_id, first.edition, first.answer) == ("multi/czsw_0_0", "own", ("B",))
    assert bench.read(SelectionDecision, "selection") == []
    assert bench.read(Transformation, "transformations") == []
    assert bench.read(Rejection, "rejections") == []
    assert [q.question_id for q in bench.read(Question, "elite", "questions")] == [
        second.question_id
    ]
    (text,) = bench.read(ImageText, "ocr_for_images", "ocr")
    assert (text.text, text.author) == ("猫、狗", "ocr_v1_easyocr.csv")
    assert bench.read(ImageText, "captions_for_images", "captions") == []
    assert bench.read(Question, "with_knowledge", "questions") == []  # there are no pieces


def with_teller(says):
    return (
        f'[models.teller]\nkind = "scripted"\nsays = """{says}"""\n'
        '[suites.multi]\ncaptioner = "teller"\nwriter = "teller"\n'
    )


def test_a_model_may_describe_images(release, tmp_path):
    bench = Bench(tmp_path / "home", release, with_teller("一只猫。"))
    bench.build(dg.AssetSelection.assets(["multi", "captions_for_images", "captions"]))
    (caption,) = bench.read(ImageText, "captions_for_images", "captions")
    assert (caption.text, caption.author) == ("一只猫。", "teller")


def test_a_model_may_propose_rewrites_and_solvers_decide(tmp_path):
    """The one proposal fits one item, whose stem has these words once."""
    says = "改写：deepen\n原文：属于哺乳动物\n改为：胎生并且哺乳"
    bench = Bench(tmp_path / "home", written=with_teller(says))
    bench.build(dg.AssetSelection.assets(["multi", "transformations"]))
    proposed = [row for row in bench.read(Transformation, "transformations") if row.by == "teller"]
    assert [row.item_id for row in proposed if row.fault.startswith("open")] == ["czsw_0_0"]
    assert len(proposed) > 10
    assert sum("does not occur exactly once" in row.fault for row in proposed) > 10


def test_two_solvers_confirm_the_key_that_both_find(tmp_path):
    models = "".join(
        f'[models.{name}]\nkind = "scripted"\nsays = """#### {says}"""\n'
        for name, says in (("x", "$y=x+2$"), ("y", "y = x+2"))
    )
    bench = Bench(tmp_path / "home", written=f'{models}[suites.multi]\nsolvers = ["x", "y"]\n')
    bench.build(dg.AssetSelection.assets(["multi", "transformations"]))
    rows = bench.read(DecidedProposal, "proposals")
    voted = [row for row in rows if not row.requested_by]
    assert {row.solvers for row in voted} == {("x", "y")}
    assert [row.id for row in voted if row.decision == "accepted"] == ["czsx_22_0/to_blank"]
    (applied,) = [
        row
        for row in bench.read(Transformation, "transformations")
        if row.by == "rule" and not row.fault
    ]
    assert applied.new_id == "czsx_22_0"


def test_one_model_under_two_names_is_not_two_solvers(tmp_path):
    models = "".join(
        f'[models.{name}]\nkind = "scripted"\nsays = "#### A"\n' for name in ("x", "y")
    )
    bench = Bench(tmp_path / "home", written=f'{models}[suites.multi]\nsolvers = ["x", "y"]\n')
    with pytest.raises(SettingsError, match="x and y are the same weights"):
        bench.build(dg.AssetSelection.assets(["multi", "transformations"]))


@pytest.mark.parametrize("solvers", [("x",), ("x", "x"), ("x", "y", "z")])
def test_there_are_two_solvers_or_none(solvers):
    with pytest.raises(ValidationError, match="expected two different models, got"):
        MultiSettings(solvers=solvers)


def test_bad_rows_beside_the_problems_are_listed_and_the_others_count(release, tmp_path):
    (release / "hard_list_v1.json").write_text('[5, "czsw_0_1", "z_0"]')
    (release / "captions_v1_blip.csv").write_text("502_1.png\n")
    (release / "knowledge_v1.json").write_text('{"a": {"knowledge_content": 7}}')
    with (release / "ocr_v1_easyocr.csv").open("a") as file:
        file.write("502_1.png\n")
    bench = Bench(tmp_path / "home", release)
    bench.build()
    assert len(bench.read(Question, "elite", "questions")) == 1
    assert len(bench.read(ImageText, "ocr_for_images", "ocr")) == 1
    assert bench.rejected("images") == {}
    reasons = {
        condition: [f"{row.entry}: {row.reason}" for rows in rejections.values() for row in rows]
        for condition in TASK.conditions
        if (rejections := read_rejections(bench.tables, TASK, "published", condition))
    }
    assert {condition: rejections for condition, rejections in reasons.items() if rejections} == {
        "elite": [
            "hard_list_v1.json, entry 1: field 'id' is 5, expected a text",
            "hard list, z_0: no question has this id",
        ],
        "with_knowledge": [
            "knowledge_v1.json, entry a: field 'knowledge_content' is 7, expected a text"
        ],
        "captions_for_images": [
            "captions_v1_blip.csv, line 1: expected `image,text`, found 502_1.png"
        ],
        "ocr_for_images": ["ocr_v1_easyocr.csv, line 2: expected `image,text`, found 502_1.png"],
    }
    assert read_rejections(bench.tables, TASK, "mini", "elite") == {}


def test_a_model_that_cannot_be_reached_stops_the_captions(release, tmp_path):
    written = (
        '[models.gone]\nkind = "server"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        'max_tries = 1\n[suites.multi]\ncaptioner = "gone"\n'
    )
    captions = dg.AssetSelection.assets(["multi", "captions_for_images", "captions"])
    with pytest.raises(ModelError):
        Bench(tmp_path / "home", release, written).build(captions)


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
    assert [*built.rejected("images")] == ["images/czsx/86_1.png"]
    pieces = built.read(Rejection, "with_knowledge", "rejections")
    assert [row.entry for row in pieces] == ["knowledge 空缺"]
    assert {row.name for row in built.read(Transformation, "transformations") if not row.fault} == {
        *("choose_elements", "split_blanks", "negate", "to_blank", "distill", "deepen")
    }
    proposals = (built.read(DecidedProposal, f"{name}proposals") for name in ("", "decided_"))
    funnel = gold_funnel(*proposals)
    assert (sum(f.agreed for f in funnel), sum(f.decided_by_people for f in funnel)) == (4, 8)


def test_nothing_but_the_images_answers_the_mini_edition(built):
    single = [q for q in built.read(Question, "questions") if q.category == "SA"]
    # The same options are offered once: to count their answers would be to look at the gold.
    assert unfair([single]).keys() <= {"the most frequent answer"}


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
    assert hard == []  # there is no hard list


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


ITEMS = [item(item_id=f"{name}_0", problem_id=name, knowledge=("集合",)) for name in "abcdefgh"]


def note(name, **fields):
    return Annotation(item_id=f"{name}_0", round=1, annotator="x", **fields)


def test_only_picked_items_are_annotated_and_broken_ones_go():
    decisions = select(ITEMS, 0)
    first, *others = [decision.problem_id for decision in decisions if decision.picked]
    passed_over = next(decision.problem_id for decision in decisions if not decision.picked)
    notes = [note(first, changes={"answer": "E"}), note(passed_over, drop="x"), note("z")]
    annotated = annotate(ITEMS, decisions, notes)
    assert {item.problem_id for item in annotated.rows} == set(others)
    assert {(rejection.entry, rejection.reason) for rejection in annotated.rejections} == {
        (f"item {first}_0", "the answer 'E' is not among ABCD"),
        ("item z_0", "annotated in round 1: no such item"),
    }
