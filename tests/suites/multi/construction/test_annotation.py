from dataclasses import replace
from typing import Any

import dagster as dg
import pytest

from bench_assets.annotation.tasks import Answer, unit_id
from bench_assets.core.gold.proposals import DecidedProposal
from bench_assets.core.schema.chat import Response
from bench_assets.core.schema.rows import Question, Rejection, StoredImage
from bench_assets.suites.multi.assets import construction
from bench_assets.suites.multi.assets import questions as assets
from bench_assets.suites.multi.construction.annotation import (
    ANNOTATION_TASKS,
    DIFFICULTY,
    DUPLICATE_CONFLICTS,
    KNOWLEDGE,
)
from bench_assets.suites.multi.construction.decisions import (
    Annotation,
    add_ratings,
    add_written_pieces,
    apply_decisions,
)
from bench_assets.suites.multi.construction.item_checks import Duplicate
from bench_assets.suites.multi.construction.selection import SelectionDecision
from bench_assets.suites.multi.construction.transformations import (
    TRANSFORMED,
    Transformation,
    key_proposals,
    propose,
)
from bench_assets.suites.multi.dataset.questions import UNCOVERED, WRITTEN, KnowledgeLink
from bench_assets.suites.multi.dataset.source import Knowledge, MultiItem
from tests.fakes.answers import answer, complaint
from tests.fakes.home import Home
from tests.fakes.multi_rows import item
from tests.fakes.rows import stored

SMALL = stored("a.png", "a" * 64)
ORDERS = item(specific="正确的顺序是[MASK]\nA. 1和3\nB. 2和4\nC. 1和4\nD. 2和3")
PLAIN = item(item_id="gzsx_2_0", problem_id="gzsx_2")
PROPOSALS = next(task for task in ANNOTATION_TASKS if task.task.name == "multi/proposals")


def annotation(**fields):
    return Annotation(item_id=ORDERS.item_id, round=2, annotator="ana", **fields)


def vote_on_keys(items, images=(), answers=()):
    """Decide the keys of all proposals for items by up to two solvers with these answers."""
    proposals = key_proposals(propose(items, {}, share=0.0, seed=0), items, images)
    answer_of = dict(zip(("x", "y"), answers, strict=False))
    return TRANSFORMED.vote(
        proposals,
        tuple(answer_of),
        lambda name, prompts: [Response(text=answer_of[name]) for _ in prompts],
    )


def test_open_keys_are_units_with_their_images():
    with_image = item(specific=f"[IMAGE_1]{ORDERS.specific}", images=("a.png", "gone.png"))
    (unit,) = PROPOSALS.units(vote_on_keys([with_image, PLAIN], [SMALL], ["#### BD", "#### none"]))
    assert unit.unit_id == "gzsx_1_0/choose_elements"
    assert unit.shown["Key"] == "BD"
    assert unit.images == {"Image 1": "a" * 64}


def test_a_key_that_both_solvers_find_is_no_unit():
    assert PROPOSALS.units(vote_on_keys([ORDERS], answers=["#### BD", "#### B D"])) == []


def link(name="", how=UNCOVERED, item_id=PLAIN.item_id):
    return KnowledgeLink(item_id=item_id, knowledge=name, how=how)


def test_people_write_knowledge_for_uncovered_items():
    (unit,) = KNOWLEDGE.units(
        [link(), link("集合", "attached", ORDERS.item_id)], [ORDERS, PLAIN], []
    )
    assert unit.unit_id == PLAIN.item_id
    knowledge = answer(unit.unit_id, name="加法", knowledge="两数之和。")
    assert complaint(KNOWLEDGE.task, unit, knowledge) == ""
    linked = add_written_pieces([link()], {}, KNOWLEDGE.to_rows([knowledge]))
    assert linked.links == [link("加法", WRITTEN)]
    assert linked.pieces == {"加法": Knowledge(name="加法", content="两数之和。")}


@pytest.mark.parametrize(
    ("links", "names", "expected_name", "n_pieces"),
    [
        pytest.param([link("集合", "attached")], ["加法"], "集合", 1, id="an attached piece stays"),
        pytest.param([link()], ["加法", "减法"], "加法", 2, id="of two pieces the first"),
        pytest.param(
            [link()], ["集合"], f"集合 ({PLAIN.item_id})", 2, id="another text of a known name"
        ),
    ],
)
def test_an_item_is_linked_to_one_piece(links, names, expected_name, n_pieces):
    rows = KNOWLEDGE.to_rows(
        [
            answer(PLAIN.item_id, f"p{n}", name=name, knowledge="text")
            for n, name in enumerate(names)
        ]
    )
    pieces = {"集合": Knowledge(name="集合", content="their own")}
    linked = add_written_pieces(links, pieces, rows)
    assert [link.knowledge for link in linked.links] == [expected_name]
    assert len(linked.pieces) == n_pieces


def duplicate(conflict="the gold is 'B', not 'A'", **fields):
    defaults: dict[str, Any] = {
        "item_id": PLAIN.item_id,
        "earlier": ORDERS.item_id,
        "similarity": 0.9,
        "distance": 0,
    }
    return Duplicate(**(defaults | {"conflict": conflict, "dropped": False} | fields))


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        pytest.param([], duplicate(), id="nobody looked"),
        pytest.param(
            ["they are one: drop the later"], duplicate("", dropped=True), id="the later one goes"
        ),
        pytest.param(
            ["they are one: drop the earlier"],
            duplicate("", dropped=True, item_id=ORDERS.item_id, earlier=PLAIN.item_id),
            id="the earlier one goes",
        ),
        pytest.param(
            ["they are one: drop the later", "they are one: drop the earlier"],
            duplicate(),
            id="divided: both stay",
        ),
    ],
)
def test_a_conflict_is_settled_by_a_majority(decisions, expected):
    (unit,) = DUPLICATE_CONFLICTS.units([duplicate()], [ORDERS, PLAIN], [])
    rows = [answer(unit.unit_id, f"p{n}", decision=text) for n, text in enumerate(decisions)]
    assert apply_decisions([duplicate()], DUPLICATE_CONFLICTS.to_rows(rows)) == [expected]


@pytest.fixture
def home(tmp_path):
    """A home with the tables that come before the questions, of an open key and a conflict."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "raw_problems.json").write_text("{}")
    (folder / "annotations.json").write_text("[]")
    home = Home(tmp_path / "home", "multi", folder)
    for table, rows, row_type in (
        ("annotated_items", [ORDERS, PLAIN], MultiItem),
        ("transformed_items", [ORDERS, PLAIN], MultiItem),
        ("duplicates", [duplicate()], Duplicate),
        ("dropped_items", [], Rejection),
        ("images", [], StoredImage),
        ("transformation_proposals", propose([ORDERS], {}, share=0.0, seed=0), Transformation),
        ("proposals", vote_on_keys([ORDERS]), DecidedProposal),
    ):
        home.tables.write(["multi", table], rows, row_type)
    return home


def write_answers(home, form, answers):
    home.tables.write(form.table("answers").split("/"), answers, Answer)


def materialize(home, assets, *tables):
    specs = [dg.AssetSpec(["multi", table]) for table in tables]
    home.materialize([*assets, *specs], dg.AssetSelection.assets(*assets))


def test_a_settled_conflict_rejects_the_earlier_question(home):
    name = unit_id(PLAIN.item_id, ORDERS.item_id)
    write_answers(
        home, DUPLICATE_CONFLICTS, [answer(name, decision="they are one: drop the earlier")]
    )
    tables = ("dropped_items", "transformed_items", "duplicates", "images")
    materialize(home, [assets.questions], *tables)
    assert [row.question_id for row in home.read(Question, "questions")] == ["multi/gzsx_2_0"]
    (rejection,) = home.read(Rejection, "rejections")
    assert rejection.reason.startswith("nearly the same as gzsx_2_0")


@pytest.mark.parametrize(
    ("answers", "expected_fault", "by"),
    [
        pytest.param([{"verdict": "the key is right"}], "", "people", id="the key is right"),
        pytest.param(
            [{"verdict": "another answer is right", "answer": "AB"}],
            "rejected: another answer: AB",
            "people",
            id="another answer is right",
        ),
        pytest.param(
            [{"verdict": "the question contradicts itself"}],
            "rejected: it contradicts itself",
            "people",
            id="a contradictory question",
        ),
        pytest.param([], "open: no rule proves it", "", id="no answer"),
    ],
)
def test_people_decide_about_an_open_key(home, answers, expected_fault, by):
    rows = [answer("gzsx_1_0/choose_elements", **values) for values in answers]
    write_answers(home, PROPOSALS, rows)
    _, decided_proposals = construction.proposals
    tables = ("annotated_items", "transformation_proposals", "proposals")
    materialize(home, [decided_proposals, construction.transformations], *tables)
    (transformation,) = home.read(Transformation, "transformations")
    assert transformation.fault == expected_fault
    (proposal,) = home.read(DecidedProposal, "decided_proposals")
    assert proposal.by == by


def rating(person, difficulty, quality):
    return answer(ORDERS.item_id, person, difficulty=difficulty, quality=quality)


RATINGS = [rating("ana", "5", "1"), rating("bo", "2", "2"), rating("cem", "4", "2")]


def test_people_rate_the_items_of_picked_problems():
    (unit,) = DIFFICULTY.units(
        [ORDERS, PLAIN], [decision(ORDERS, picked=True), decision(PLAIN, picked=False)], []
    )
    assert unit.unit_id == ORDERS.item_id
    assert complaint(DIFFICULTY.task, unit, RATINGS[0]) == ""


def test_the_median_of_ratings_goes_into_the_first_round():
    first = Annotation(item_id=ORDERS.item_id, round=1, annotator="dan", difficulty="1", drop="x")
    rated = add_ratings([first, annotation()], DIFFICULTY.to_rows(RATINGS))
    assert rated == [replace(first, difficulty="4", quality="2"), annotation()]


def test_ratings_without_an_annotation_make_one_with_the_lower_median():
    (row,) = add_ratings([], DIFFICULTY.to_rows(RATINGS[:2]))
    assert (row.annotator, row.round, row.difficulty, row.quality) == ("ana+bo", 1, "2", "1")


def decision(item, *, picked):
    return SelectionDecision(
        problem_id=item.problem_id,
        knowledge="k",
        length=1.0,
        rank=0,
        n_problems=1,
        quota=1,
        probability=1.0,
        draw=0.0,
        picked=picked,
    )
