import json

import dagster as dg
import pytest
from pydantic import ValidationError

from bench_assets.asset_factory.evaluation_tables import read_rejections
from bench_assets.core.gold.funnel import gold_funnel
from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.schema.errors import MissingExtraError, ModelError, SettingsError
from bench_assets.core.schema.rows import ImageText, Question, Rejection, Score
from bench_assets.suites.multi.assets import ablations
from bench_assets.suites.multi.construction import markup
from bench_assets.suites.multi.construction.decisions import Annotation, annotate
from bench_assets.suites.multi.construction.selection import SelectionDecision, select
from bench_assets.suites.multi.construction.transformations import Transformation
from bench_assets.suites.multi.dataset.questions import KnowledgeLink
from bench_assets.suites.multi.scoring import max_points
from bench_assets.suites.multi.settings import MultiSettings
from bench_assets.suites.multi.studies import CONDITIONS, InformationGain
from bench_assets.suites.multi.task import TASK
from tests.fakes.fair_exam import unfair
from tests.fakes.multi_rows import item
from tests.fakes.written_images import plain_png
from tests.suites.multi.bench import LEFT_HALF, Bench
from tests.suites.multi.dataset.test_source import PROBLEM


@pytest.fixture
def release(tmp_path):
    folder = tmp_path / "release"
    (folder / "images" / "czsw").mkdir(parents=True)
    (folder / "images" / "czsw" / "502_1.png").write_bytes(plain_png())
    (folder / "problem_v1.json").write_text(json.dumps({"czsw_0": PROBLEM}))
    (folder / "hard_list_v1.json").write_text('["czsw_0_1"]')
    (folder / "ocr_v1_easyocr.csv").write_text("../data/images/czsw/502_1.png,猫、狗\n")
    return folder


def test_a_release_becomes_questions_without_selection_or_transformation(release, tmp_path):
    bench = Bench(tmp_path / "home", release)
    bench.build()
    first, _ = bench.read(Question, "questions")
    assert (first.question_id, first.edition, first.answer) == ("multi/czsw_0_0", "own", ("B",))
    assert bench.read(SelectionDecision, "selection") == []
    assert bench.read(Transformation, "transformations") == []
    assert bench.read(Rejection, "rejections") == []


def test_conditions_have_what_the_release_holds_for_them(release, tmp_path):
    bench = Bench(tmp_path / "home", release)
    bench.build()
    (elite,) = bench.read(Question, "elite", "questions")
    assert elite.question_id == "multi/czsw_0_1"
    (text,) = bench.read(ImageText, "ocr_for_images", "ocr")
    assert (text.text, text.author) == ("猫、狗", "ocr_v1_easyocr.csv")
    assert bench.read(ImageText, "captions_for_images", "captions") == []
    assert bench.read(Question, "captions_for_images", "questions") == []
    assert bench.read(Question, "with_knowledge", "questions") == []  # no knowledge in the release


def test_ocr_texts_of_a_release_need_no_ocr_engine(release, tmp_path, monkeypatch):
    def no_engine(*_):
        raise MissingExtraError("rapidocr is not installed")

    monkeypatch.setattr(markup, "require_extra", no_engine)
    bench = Bench(tmp_path / "home", release)
    bench.build(dg.AssetSelection.assets(["multi", "ocr_for_images", "questions"]))
    first, second = bench.read(Question, "ocr_for_images", "questions")
    assert first.image_texts == second.image_texts == ("猫、狗",)


def test_a_font_is_searched_for_beside_bench_toml(tmp_path):
    bench = Bench(tmp_path, toml='[suites.multi]\nfont = "gone.ttf"\n')
    with pytest.raises(SettingsError, match=f"{tmp_path}/gone.ttf: no such font"):
        bench.build(dg.AssetSelection.assets(["multi", "images"]))


def writer_toml(response):
    """Settings of a model that writes captions and rewrites, with always the same response."""
    return (
        f'[models.writer]\nkind = "scripted"\nsays = """{response}"""\n'
        '[suites.multi]\ncaptioner = "writer"\nwriter = "writer"\n'
    )


def test_a_model_writes_captions(release, tmp_path):
    bench = Bench(tmp_path / "home", release, writer_toml("一只猫。"))
    bench.build(dg.AssetSelection.assets(["multi", "captions_for_images", "captions"]))
    (caption,) = bench.read(ImageText, "captions_for_images", "captions")
    assert (caption.text, caption.author) == ("一只猫。", "writer")


def test_rewrites_of_a_model_are_proposals_that_wait_for_solvers(tmp_path):
    """The proposal fits one item only: no other has these words once."""
    response = "改写：deepen\n原文：属于哺乳动物\n改为：胎生并且哺乳"
    bench = Bench(tmp_path / "home", toml=writer_toml(response))
    bench.build(dg.AssetSelection.assets(["multi", "transformations"]))
    proposed = [row for row in bench.read(Transformation, "transformations") if row.by == "writer"]
    assert [row.item_id for row in proposed if row.fault.startswith("open")] == ["czsw_0_0"]
    fitting = [row for row in proposed if "does not occur exactly once" not in row.fault]
    assert [row.item_id for row in fitting] == ["czsw_0_0"]


def solvers_toml(*, x, y):
    """Settings of two solvers with these answers."""
    return (
        f'[models.x]\nkind = "scripted"\nsays = "#### {x}"\n'
        f'[models.y]\nkind = "scripted"\nsays = "#### {y}"\n'
        '[suites.multi]\nsolvers = ["x", "y"]\n'
    )


def test_a_key_that_both_solvers_find_is_accepted(tmp_path):
    bench = Bench(tmp_path / "home", toml=solvers_toml(x="$y=x+2$", y="y = x+2"))
    bench.build(dg.AssetSelection.assets(["multi", "transformations"]))
    voted_on = [row for row in bench.read(DecidedProposal, "proposals") if not row.requested_by]
    assert {row.solvers for row in voted_on} == {("x", "y")}
    assert [row.id for row in voted_on if row.decision == "accepted"] == ["czsx_22_0/to_blank"]
    (applied,) = [
        row
        for row in bench.read(Transformation, "transformations")
        if row.by == "rule" and not row.fault
    ]
    assert applied.new_id == "czsx_22_0"


def test_one_model_under_two_names_is_refused_as_two_solvers(tmp_path):
    bench = Bench(tmp_path / "home", toml=solvers_toml(x="A", y="A"))
    with pytest.raises(SettingsError, match="x and y are the same weights"):
        bench.build(dg.AssetSelection.assets(["multi", "transformations"]))


@pytest.mark.parametrize("solvers", [("x",), ("x", "x"), ("x", "y", "z")])
def test_any_other_number_than_two_different_solvers_is_refused(solvers):
    with pytest.raises(ValidationError, match="expected two different models, got"):
        MultiSettings(solvers=solvers)


def test_bad_rows_beside_the_problems_are_rejections_of_their_condition(release, tmp_path):
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
    reasons = {}
    for condition in TASK.conditions:
        rejections = read_rejections(bench.tables, TASK, "published", condition)
        lines = [f"{row.entry}: {row.reason}" for rows in rejections.values() for row in rows]
        if lines:
            reasons[condition] = lines
    assert reasons == {
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
    toml = (
        '[models.gone]\nkind = "server"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        'max_tries = 1\n[suites.multi]\ncaptioner = "gone"\n'
    )
    captions = dg.AssetSelection.assets(["multi", "captions_for_images", "captions"])
    with pytest.raises(ModelError, match=r"127\.0\.0\.1:9/v1: cannot be reached"):
        Bench(tmp_path / "home", release, toml).build(captions)


OCR = dg.AssetSelection.assets(["multi", "ocr_for_images", "ocr"]).downstream()


@pytest.fixture(scope="module")
def mini_edition(tmp_path_factory):
    """The mini edition, built once without OCR, which takes seconds."""
    bench = Bench(tmp_path_factory.mktemp("home"))
    bench.build(dg.AssetSelection.all() - OCR)
    return bench


def test_the_mini_edition_has_questions_of_all_kinds_with_stored_images(mini_edition):
    questions = mini_edition.read(Question, "questions")
    assert {question.edition for question in questions} == {"mini"}
    assert all(mini_edition.images.read(image) for q in questions for image in q.images)
    assert {question.labels["images"] for question in questions} == {"NI", "SI", "MI"}
    assert {question.category for question in questions} == {"SA", "MA", "FB", "OP", "Other"}


def test_every_planted_fault_is_caught_and_nothing_else(mini_edition):
    reasons = {row.entry: row.reason for row in mini_edition.read(Rejection, "rejections")}
    beginnings = {
        "item czsx_80_0": "an option is empty",
        "item czsx_81_0": "two options are equal",
        "item czsx_82_0": "a formula is broken",
        "item czsx_83_0": "the answer 'E' is not among ABC",
        "item czsx_84_0": "3 blanks and 2 answers",
        "question czsx_85_0": "images are missing or do not decode: czsx/85_1.png",
        "question czsx_86_0": "images are missing or do not decode: czsx/86_1.png",
        "item czsx_87_0": "HTML is left: <span",
        "item czsx_88_0": "annotator-2 dropped it in round 2",
        "item czsx_90_0": "nearly the same as czsx_0_0",
        "item gzls_90_0": "nearly the same as gzls_0_0",
        "item czwl_90_0": "nearly the same as czwl_1_0",
    }  # an annotator corrects the wrong key of czsx_89
    assert reasons.keys() == beginnings.keys()
    assert all(reasons[entry].startswith(begin) for entry, begin in beginnings.items())
    assert [*mini_edition.rejected("images")] == ["images/czsx/86_1.png"]
    knowledge_rejections = mini_edition.read(Rejection, "with_knowledge", "rejections")
    assert [row.entry for row in knowledge_rejections] == ["knowledge 空缺"]


def test_the_mini_edition_has_all_transformations(mini_edition):
    transformations = mini_edition.read(Transformation, "transformations")
    names = {row.name for row in transformations if not row.fault}
    assert names == {"choose_elements", "split_blanks", "negate", "to_blank", "distill", "deepen"}


def test_solvers_and_people_decide_proposals_of_the_mini_edition(mini_edition):
    funnel = gold_funnel(
        mini_edition.read(DecidedProposal, "proposals"),
        mini_edition.read(DecidedProposal, "decided_proposals"),
    )
    assert any(row.agreed for row in funnel)
    assert any(row.decided_by_people for row in funnel)


def test_the_mini_edition_cannot_be_answered_without_its_images(mini_edition):
    single = [q for q in mini_edition.read(Question, "questions") if q.category == "SA"]
    # The same options are offered once: to count their answers would be to look at the gold.
    assert unfair([single]).keys() <= {"the most frequent answer"}


def test_captions_replace_the_images_of_all_questions_that_have_some(mini_edition):
    questions = mini_edition.read(Question, "questions")
    described = mini_edition.read(Question, "captions_for_images", "questions")
    with_images = [question.question_id for question in questions if question.images]
    assert [question.question_id for question in described] == with_images
    assert all(not question.images for question in described)
    uncaptioned = [q.question_id for q in described if not all(q.image_texts)]
    assert uncaptioned == ["multi/gzsx_4_0"], "only the table that was drawn here has no caption"


def test_every_question_of_the_blank_image_has_one(mini_edition):
    questions = mini_edition.read(Question, "blank_image", "questions")
    assert questions
    assert all(question.images for question in questions)


def test_knowledge_adds_images_to_some_questions_and_removes_none(mini_edition):
    questions = mini_edition.read(Question, "questions")
    informed = mini_edition.read(Question, "with_knowledge", "questions")
    assert [q.question_id for q in informed] == [q.question_id for q in questions]
    links = mini_edition.read(KnowledgeLink, "with_knowledge", "knowledge_links")
    assert {link.how for link in links} == {"attached", "named in the text", "uncovered"}
    added = [len(q.images) - len(o.images) for q, o in zip(informed, questions, strict=True)]
    assert min(added) == 0
    assert max(added) > 0


def test_without_a_hard_list_no_question_is_elite(mini_edition):
    assert mini_edition.read(Question, "elite", "questions") == []


def test_information_gain_reads_the_scores_of_all_conditions(mini_edition):
    questions = mini_edition.read(Question, "questions")
    for condition in CONDITIONS:
        share, folder = (1, []) if condition == "main" else (0, [condition])
        points = {q.question_id: share * float(max_points(q)) for q in questions}
        rows = [
            Score(question_id=name, model="m", condition=condition, points=n)
            for name, n in points.items()
        ]
        mini_edition.tables.write(["multi", *folder, "scores"], rows, Score, "m")
    mini_edition.materialize(
        [*LEFT_HALF, ablations.information_gain], [ablations.information_gain], "m"
    )
    single, several, *_ = mini_edition.read(InformationGain, "information_gain", model="m")
    assert (single.condition, single.category, single.gain) == ("main", "SI", 1.0)
    assert (several.condition, several.category, several.gain) == ("main", "MI", 1.0)


ITEMS = [item(item_id=f"{name}_0", problem_id=name, knowledge=("集合",)) for name in "abcdefgh"]


def annotation(name, **fields):
    return Annotation(item_id=f"{name}_0", round=1, annotator="x", **fields)


def test_only_picked_items_are_annotated_and_broken_ones_are_rejected():
    decisions = select(ITEMS, 0)
    first, *other_picks = [decision.problem_id for decision in decisions if decision.picked]
    passed_over = next(decision.problem_id for decision in decisions if not decision.picked)
    annotations = [
        annotation(first, changes={"answer": "E"}),
        annotation(passed_over, drop="x"),
        annotation("z"),
    ]
    annotated = annotate(ITEMS, decisions, annotations)
    assert {item.problem_id for item in annotated.rows} == set(other_picks)
    assert {(rejection.entry, rejection.reason) for rejection in annotated.rejections} == {
        (f"item {first}_0", "the answer 'E' is not among ABCD"),
        ("item z_0", "annotated in round 1: no such item"),
    }
