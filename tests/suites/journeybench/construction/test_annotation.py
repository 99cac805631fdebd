from dataclasses import replace
from typing import Any

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.suites.journeybench.construction import annotation
from bench_assets.suites.journeybench.construction.filtering import verify_captions
from bench_assets.suites.journeybench.construction.look_alikes import LookAlike, verify_look_alikes
from bench_assets.suites.journeybench.raw_material import (
    CRITERIA,
    CaptionDecision,
    CaptionVote,
    FilterDecision,
    FilterVote,
    GalleryImage,
    LookAlikeVote,
    StatementVote,
    TriggerVote,
    WrittenCaption,
)
from tests.fakes.answers import answer_to
from tests.fakes.rows import stored
from tests.suites.journeybench.construction import writers

TRIGGER_RESPONSE = (
    '[{"trigger": "false premises", "question": "Where is the dog?", "answers": ["Nowhere"]},'
    ' {"trigger": "riddle", "question": "Who?", "answers": ["Me"]}]'
)


IMAGES = [stored(name, f"sha of {name}") for name in ("cats/a.png", "b.png")]


def rows_of(task, units, *answers):
    """Rows of answers that are all valid, without the time and the tool of the answers."""
    resolved = resolve_answers(task.task, units, answers)
    assert resolved.refused == []
    rows = task.to_rows(resolved.answers)
    # As answer_to writes them.
    assert {(row.seconds, row.at, row.tool) for row in rows} <= {
        (2.0, "2026-11-22T16:00:00.000Z", "pages")
    }
    return [replace(row, seconds=None, at="", tool="") for row in rows]


def filter_decision(image, *, kept, is_open=False):
    return FilterDecision(
        image=image,
        kept=kept,
        reason="",
        n_votes=0,
        n_unusual=0,
        n_fictional=0,
        n_comprehensible=0,
        open=is_open,
    )


def accepted_caption(text):
    return CaptionDecision(
        image="b.png", writer="w1", caption=text, kept=True, reason="", n_votes=4, n_accepting=4
    )


def test_four_people_judge_each_decodable_image_by_all_criteria():
    names = ("cats/a.png", "b.png", "torn.png")
    gallery = [GalleryImage(image=name, query="q", prompt="p") for name in names]
    units = annotation.FILTER.units(gallery=gallery, images=IMAGES)
    assert [(unit.unit_id, unit.needed) for unit in units] == [("cats%2Fa.png", 4), ("b.png", 4)]

    first, second = units
    yes = dict.fromkeys(CRITERIA, "yes")
    rows = rows_of(
        annotation.FILTER,
        units,
        answer_to(annotation.FILTER, first, "ana", **yes),
        answer_to(annotation.FILTER, second, "bo", **yes | {"unusual": "no"}),
    )
    passed: dict[str, Any] = dict.fromkeys(CRITERIA, True)
    assert rows == [
        FilterVote(image="b.png", annotator="bo", **passed | {"unusual": False}),
        FilterVote(image="cats/a.png", annotator="ana", **passed),
    ]


def test_captions_are_written_of_kept_images_only():
    decisions = [
        filter_decision("cats/a.png", kept=True),
        filter_decision("b.png", kept=False, is_open=True),
    ]
    (unit,) = annotation.WRITE.units(decisions=decisions, images=IMAGES)
    assert (unit.unit_id, unit.needed) == ("cats%2Fa.png", 8)
    answer = answer_to(annotation.WRITE, unit, "wu", caption="A cat.")
    assert rows_of(annotation.WRITE, [unit], answer) == [
        WrittenCaption(image="cats/a.png", writer="wu", caption="A cat.")
    ]


def test_equal_captions_are_verified_once_and_not_by_their_writer():
    captions = [
        WrittenCaption(image="cats/a.png", writer="w/1", caption="A  cat."),
        WrittenCaption(image="cats/a.png", writer="w2", caption="a cat"),
        WrittenCaption(image="cats/a.png", writer="w3", caption=" "),
        WrittenCaption(image="b.png", writer="w1", caption="A dog."),
    ]
    decisions = [filter_decision("cats/a.png", kept=True), filter_decision("b.png", kept=False)]
    (unit,) = annotation.VERIFY.units(captions=captions, decisions=decisions, images=IMAGES)
    assert (unit.shown, unit.barred, unit.needed) == ({"Caption": "A cat."}, ("w/1",), 4)

    answer = answer_to(annotation.VERIFY, unit, "ana", accepts="yes")
    rows = rows_of(annotation.VERIFY, [unit], answer)
    assert rows == [CaptionVote(image="cats/a.png", writer="w/1", verifier="ana", accepts=True)]
    caption_decisions = verify_captions(captions, rows, {"cats/a.png"})
    assert [decision.kept for decision in caption_decisions] == [True, False, False]


def test_people_check_statements_that_are_neither_repeated_nor_captions_nor_empty():
    statements = [
        writers.statement("A dog with a red/blue hat.", 1, image="b.png"),
        writers.statement("a dog with a red/blue hat", 2, image="b.png"),
        writers.statement("A cat", 3, image="b.png"),
        writers.statement("", 4, image="b.png"),
    ]
    captions = [accepted_caption("A cat with a hat.")]
    (unit,) = annotation.CONFLICTS.units(
        statements=statements, caption_decisions=captions, images=IMAGES
    )
    assert unit.shown == {"Statement": "A dog with a red/blue hat."}
    answer = answer_to(annotation.CONFLICTS, unit, "ana", conflicts="no")
    assert rows_of(annotation.CONFLICTS, [unit], answer) == [
        StatementVote(
            image="b.png", statement="a dog with a red/blue hat", annotator="ana", conflicts=False
        )
    ]


def test_a_look_alike_of_two_criteria_is_one_unit():
    proposals = [
        LookAlike(image="b.png", candidate="cats/a.png", criterion=criterion, similarity=0.5)
        for criterion in ("subject", "both")
    ]
    (unit,) = annotation.ALIKE.units(
        look_alike_proposals=proposals,
        caption_decisions=[accepted_caption("A cat.")],
        images=IMAGES,
    )
    assert unit.images == {"First": "sha of b.png", "Second": "sha of cats/a.png"}

    answer = answer_to(annotation.ALIKE, unit, "ana", alike="yes", conflicts="no")
    assert rows_of(annotation.ALIKE, [unit], answer) == [
        LookAlikeVote(
            image="b.png", candidate="cats/a.png", annotator="ana", alike=True, conflicts=False
        )
    ]


def test_a_look_alike_with_too_few_votes_is_open():
    proposal = LookAlike(image="b", candidate="a", criterion="subject", similarity=0.5)
    vote = LookAlikeVote(image="b", candidate="a", annotator="ana", alike=True, conflicts=True)
    (decision,) = verify_look_alikes([proposal], [vote], least_votes=3)
    assert (decision.accepted, decision.open) == (False, True)
    assert decision.reason == "1 of 3 needed votes"


def test_people_check_trigger_questions_of_known_kinds():
    response = writers.response("b.png/triggers", TRIGGER_RESPONSE)
    (unit,) = annotation.TRIGGER.units(trigger_responses=[response], images=IMAGES)
    assert unit.shown["Answers"] == "Nowhere"
    answer = answer_to(annotation.TRIGGER, unit, "ana", accepts="yes")
    assert rows_of(annotation.TRIGGER, [unit], answer) == [
        TriggerVote(image="b.png", question="where is the dog?", annotator="ana", accepts=True)
    ]
