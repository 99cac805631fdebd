"""What people are asked when MULTI is made, and what becomes of their answers."""

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
from tests.fakes.answers import answer, fits
from tests.fakes.home import Home
from tests.fakes.multi_rows import item
from tests.fakes.rows import stored

SMALL = stored("a.png", "a" * 64)
ORDERS = item(specific="正确的顺序是[MASK]\nA. 1和3\nB. 2和4\nC. 1和4\nD. 2和3")
PLAIN = item(item_id="gzsx_2_0", problem_id="gzsx_2")
PROPOSALS = next(task for task in ANNOTATION_TASKS if task.task.name == "multi/proposals")


def annotation(**fields):
    return Annotation(item_id=ORDERS.item_id, round=2, annotator="ana", **fields)


def voted(items, images=(), answers=()):
    proposals = key_proposals(propose(items, {}, 0.0, 0), items, images)
    answer_of = dict(zip(("x", "y"), answers, strict=False))
    return TRANSFORMED.vote(
        proposals,
        tuple(answer_of),
        lambda name, prompts: [Response(text=answer_of[name]) for _ in prompts],
    )


def test_open_keys_are_units_with_their_images():
    with_image = item(specific=f"[IMAGE_1]{ORDERS.specific}", images=("a.png", "gone.png"))
    (unit,) = PROPOSALS.units(voted([with_image, PLAIN], [SMALL], ["#### BD", "#### none"]))
    assert unit.unit_id == "gzsx_1_0/choose_elements"
    assert unit.shown["Key"] == "BD"
    assert unit.images == {"Image 1": "a" * 64}
    assert PROPOSALS.units(voted([ORDERS], answers=["#### BD", "#### B D"])) == []


def link(name="", how=UNCOVERED, item_id=PLAIN.item_id):
    return KnowledgeLink(item_id=item_id, knowledge=name, how=how)


def test_knowledge_is_written_where_there_is_none():
    (unit,) = KNOWLEDGE.units(
        [link(), link("集合", "attached", ORDERS.item_id)], [ORDERS, PLAIN], []
    )
    assert unit.unit_id == PLAIN.item_id
    written = answer(unit.unit_id, name="加法", knowledge="两数之和。")
    assert fits(KNOWLEDGE.task, unit, written) == ""
    pieces = add_written_pieces([link()], {}, KNOWLEDGE.to_rows([written]))
    assert pieces.links == [link("加法", WRITTEN)]
    assert pieces.pieces == {"加法": Knowledge(name="加法", content="两数之和。")}


@pytest.mark.parametrize(
    ("links", "names", "piece", "n_pieces"),
    [
        pytest.param([link("集合", "attached")], ["加法"], ["集合"], 1, id="what is there stays"),
        pytest.param([link()], ["加法", "减法"], ["加法"], 2, id="of two pieces the first"),
        pytest.param(
            [link()], ["集合"], [f"集合 ({PLAIN.item_id})"], 2, id="another text of a known name"
        ),
    ],
)
def test_which_piece_an_item_gets(links, names, piece, n_pieces):
    written = KNOWLEDGE.to_rows(
        [answer(PLAIN.item_id, f"p{n}", name=t, knowledge="text") for n, t in enumerate(names)]
    )
    pieces = add_written_pieces(
        links, {"集合": Knowledge(name="集合", content="their own")}, written
    )
    assert [link.knowledge for link in pieces.links] == piece
    assert len(pieces.pieces) == n_pieces


def pair(conflict="the gold is 'B', not 'A'", **fields):
    defaults: dict[str, Any] = {
        "item_id": PLAIN.item_id,
        "earlier": ORDERS.item_id,
        "similarity": 0.9,
        "distance": 0,
    }
    return Duplicate(**(defaults | {"conflict": conflict, "dropped": False} | fields))


@pytest.mark.parametrize(
    ("decisions", "after"),
    [
        pytest.param([], pair(), id="nobody looked"),
        pytest.param(
            ["they are one: drop the later"], pair("", dropped=True), id="the later one goes"
        ),
        pytest.param(
            ["they are one: drop the earlier"],
            pair("", dropped=True, item_id=ORDERS.item_id, earlier=PLAIN.item_id),
            id="the earlier one goes",
        ),
        pytest.param(
            ["they are one: drop the later", "they are one: drop the earlier"],
            pair(),
            id="divided: both stay",
        ),
    ],
)
def test_what_becomes_of_a_conflict(decisions, after):
    (unit,) = DUPLICATE_CONFLICTS.units([pair()], [ORDERS, PLAIN], [])
    rows = [answer(unit.unit_id, f"p{n}", decision=text) for n, text in enumerate(decisions)]
    assert apply_decisions([pair()], DUPLICATE_CONFLICTS.to_rows(rows)) == [after]


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "raw_problems.json").write_text("{}")
    (folder / "annotations.json").write_text("[]")
    made = Home(tmp_path / "home", "multi", folder)
    for table, rows, row in (
        ("annotated_items", [ORDERS, PLAIN], MultiItem),
        ("transformed_items", [ORDERS, PLAIN], MultiItem),
        ("duplicates", [pair()], Duplicate),
        ("dropped_items", [], Rejection),
        ("images", [], StoredImage),
        ("transformation_proposals", propose([ORDERS], {}, 0.0, 0), Transformation),
        ("proposals", voted([ORDERS]), DecidedProposal),
    ):
        made.tables.write(["multi", table], rows, row)
    return made


def write_answers(home, form, answers):
    home.tables.write(form.table("answers").split("/"), answers, Answer)


def materialize(home, asset, *read):
    specs = [dg.AssetSpec(["multi", table]) for table in read]
    home.materialize([asset, *specs], dg.AssetSelection.assets(asset))


def test_a_conflict_that_people_settle_takes_the_earlier_question_out(home):
    name = unit_id(PLAIN.item_id, ORDERS.item_id)
    write_answers(
        home, DUPLICATE_CONFLICTS, [answer(name, decision="they are one: drop the earlier")]
    )
    read = ("dropped_items", "transformed_items", "duplicates", "images")
    materialize(home, assets.questions, *read)
    assert [one.question_id for one in home.read(Question, "questions")] == ["multi/gzsx_2_0"]
    (gone,) = home.read(Rejection, "rejections")
    assert gone.reason.startswith("nearly the same as gzsx_2_0")


@pytest.mark.parametrize(
    ("verdict", "fault"),
    [
        pytest.param("the key is right", "", id="right"),
        pytest.param("another answer is right", "rejected: another answer: AB", id="another"),
        pytest.param(
            "the question contradicts itself", "rejected: it contradicts itself", id="contradictory"
        ),
        pytest.param("", "open: no rule proves it", id="nobody looked"),
    ],
)
def test_people_decide_about_an_open_key(home, verdict, fault):
    name, values = "gzsx_1_0/choose_elements", {"verdict": verdict}
    if "another" in verdict:
        values["answer"] = "AB"
    write_answers(home, PROPOSALS, [answer(name, **values)] if verdict else [])
    decisions = construction.proposals[1]
    read = ("annotated_items", "transformation_proposals", "proposals")
    specs = [dg.AssetSpec(["multi", table]) for table in read]
    made = dg.AssetSelection.assets(decisions, construction.transformations)
    home.materialize([decisions, construction.transformations, *specs], made)
    (row,) = home.read(Transformation, "transformations")
    assert row.fault == fault
    (decided,) = home.read(DecidedProposal, "decided_proposals")
    assert (decided.by == "people") == bool(verdict)


def test_each_item_of_a_picked_problem_is_rated_by_difficulty_and_quality():
    (unit,) = DIFFICULTY.units([ORDERS, PLAIN], [picked(ORDERS), picked(PLAIN, False)], [])
    assert unit.unit_id == ORDERS.item_id
    answers = [
        answer(unit.unit_id, person, difficulty=difficulty, quality=quality)
        for person, difficulty, quality in [("ana", "5", "1"), ("bo", "2", "2"), ("cem", "4", "2")]
    ]
    assert fits(DIFFICULTY.task, unit, answers[0]) == ""
    file = [
        Annotation(item_id=unit.unit_id, round=1, annotator="dan", difficulty="1", drop="broken"),
        annotation(),
    ]
    rated = add_ratings(file, DIFFICULTY.to_rows(answers))
    assert rated == [replace(file[0], difficulty="4", quality="2"), file[1]]
    (row,) = add_ratings([], DIFFICULTY.to_rows(answers[:2]))
    assert (row.annotator, row.round, row.difficulty, row.quality) == ("ana+bo", 1, "2", "1")


def picked(one, is_picked=True):
    return SelectionDecision(
        problem_id=one.problem_id,
        knowledge="k",
        length=1.0,
        rank=0,
        n_problems=1,
        quota=1,
        probability=1.0,
        draw=0.0,
        picked=is_picked,
    )
