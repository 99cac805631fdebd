"""What people are asked about JourneyBench, and what their answers become."""

from dataclasses import replace
from typing import Any

import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.suites.journeybench.construction import annotation
from bench_assets.suites.journeybench.construction.distractors import Statement
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
from bench_assets.suites.journeybench.text_generation import GeneratedText
from tests.fakes.answers import answer_to
from tests.fakes.rows import stored

TRIGGER = (
    '[{"trigger": "false premises", "question": "Where is the dog?", "answers": ["Nowhere"]},'
    ' {"trigger": "riddle", "question": "Who?", "answers": ["Me"]}]'
)


IMAGES = [stored(name, f"sha of {name}") for name in ("cats/a.png", "b.png")]


def rows_of(task, units, *answers):
    """Rows of the answers, of which all count; how they were said is looked at elsewhere."""
    resolved = resolve_answers(task.task, units, answers)
    assert resolved.refused == []
    rows = task.to_rows(resolved.answers)
    assert {(row.seconds, row.at, row.tool) for row in rows} <= {
        (2.0, "2026-11-22T16:00:00.000Z", "pages")
    }
    return [replace(row, seconds=None, at="", tool="") for row in rows]


def kept(image, *, is_kept=True, is_open=False):
    return FilterDecision(
        image=image,
        kept=is_kept,
        reason="",
        n_votes=0,
        n_unusual=0,
        n_fictional=0,
        n_comprehensible=0,
        open=is_open,
    )


def caption(image, text, writer="w1"):
    return CaptionDecision(
        image=image, writer=writer, caption=text, kept=True, reason="", n_votes=4, n_accepting=4
    )


def statement(text, number=1):
    return Statement(
        statement_id=f"b.png/model/{number}",
        image="b.png",
        text=text,
        way="model",
        request_id="",
        writer="",
        prompt_sha256="",
    )


def test_filtering_votes_of_people_are_those_of_a_file():
    names = ("cats/a.png", "b.png", "torn.png")
    gallery = [GalleryImage(image=name, query="q", prompt="p") for name in names]
    units = annotation.FILTER.units(gallery=gallery, images=IMAGES)
    assert [(unit.unit_id, unit.needed) for unit in units] == [("cats%2Fa.png", 4), ("b.png", 4)]
    first, second = units
    yes = dict.fromkeys(CRITERIA, "yes")
    answers = [
        answer_to(annotation.FILTER, first, who, **yes) for who in ("ana", "bo", "cem", "dai")
    ]
    answers += [
        answer_to(annotation.FILTER, second, who, **yes | {"unusual": "no"})
        for who in ("ana", "bo")
    ]
    rows = rows_of(annotation.FILTER, units, *answers)
    passed: dict[str, Any] = dict.fromkeys(CRITERIA, True)
    assert rows[:1] == [FilterVote(image="b.png", annotator="ana", **passed | {"unusual": False})]
    assert rows[2:3] == [FilterVote(image="cats/a.png", annotator="ana", **passed)]


def test_captions_are_written_of_kept_images_only():
    decisions = [kept("cats/a.png"), kept("b.png", is_kept=False, is_open=True)]
    (unit,) = annotation.WRITE.units(decisions=decisions, images=IMAGES)
    assert (unit.unit_id, unit.needed) == ("cats%2Fa.png", 8)
    assert rows_of(
        annotation.WRITE, [unit], answer_to(annotation.WRITE, unit, "wu", caption="A cat.")
    ) == [WrittenCaption(image="cats/a.png", writer="wu", caption="A cat.")]


def test_captions_are_verified_by_others_once_for_those_that_say_the_same():
    written = [
        WrittenCaption(image="cats/a.png", writer="w/1", caption="A  cat."),
        WrittenCaption(image="cats/a.png", writer="w2", caption="a cat"),
        WrittenCaption(image="cats/a.png", writer="w3", caption=" "),
        WrittenCaption(image="b.png", writer="w1", caption="A dog."),
    ]
    decisions = [kept("cats/a.png"), kept("b.png", is_kept=False)]
    (unit,) = annotation.VERIFY.units(captions=written, decisions=decisions, images=IMAGES)
    assert (unit.shown, unit.barred, unit.needed) == ({"Caption": "A cat."}, ("w/1",), 4)
    rows = rows_of(
        annotation.VERIFY, [unit], answer_to(annotation.VERIFY, unit, "ana", accepts="yes")
    )
    assert rows == [CaptionVote(image="cats/a.png", writer="w/1", verifier="ana", accepts=True)]
    decided = verify_captions(written, rows, {"cats/a.png"})
    assert [one.kept for one in decided] == [True, False, False]


def test_statements_are_checked_that_rules_do_not_sort_out():
    statements = [
        statement("A dog with a red/blue hat.", 1),
        statement("a dog with a red/blue hat", 2),
        statement("A cat", 3),
        statement("", 4),
    ]
    captions = [caption("b.png", "A cat with a hat.")]
    (unit,) = annotation.CONFLICTS.units(
        statements=statements, caption_decisions=captions, images=IMAGES
    )
    assert unit.shown == {"Statement": "A dog with a red/blue hat."}
    rows = rows_of(
        annotation.CONFLICTS, [unit], answer_to(annotation.CONFLICTS, unit, "ana", conflicts="no")
    )
    assert rows == [
        StatementVote(
            image="b.png",
            statement="a dog with a red/blue hat",
            annotator="ana",
            conflicts=False,
        )
    ]


@pytest.mark.parametrize(
    ("alike", "conflicts", "accepted"),
    [
        pytest.param("yes", "yes", True, id="alike, and the captions are wrong of it"),
        pytest.param("yes", "no", False, id="a right answer"),
        pytest.param("no", "yes", False, id="another image"),
    ],
)
def test_a_look_alike_is_one_unit_however_it_was_proposed(alike, conflicts, accepted):
    proposed = [
        LookAlike(image="b.png", candidate="cats/a.png", criterion=way, similarity=0.5)
        for way in ("subject", "both")
    ]
    (unit,) = annotation.ALIKE.units(
        look_alike_proposals=proposed,
        caption_decisions=[caption("b.png", "A cat.")],
        images=IMAGES,
    )
    assert unit.images == {"First": "sha of b.png", "Second": "sha of cats/a.png"}
    given = answer_to(annotation.ALIKE, unit, "ana", alike=alike, conflicts=conflicts)
    rows = rows_of(annotation.ALIKE, [unit], given)
    assert rows == [
        LookAlikeVote(
            image="b.png",
            candidate="cats/a.png",
            annotator="ana",
            alike=alike == "yes",
            conflicts=conflicts == "yes",
        )
    ]
    (decision,) = verify_look_alikes(proposed, rows)
    assert (decision.accepted, decision.open) == (accepted, False)
    (waits,) = verify_look_alikes(proposed, rows, least_votes=3)
    assert (waits.accepted, waits.open, waits.reason) == (False, True, "1 votes, 3 are needed")


def test_questions_are_checked_that_are_whole():
    response = GeneratedText(
        request_id="b.png/triggers", text=TRIGGER, error="", writer="m", prompt="", prompt_sha256=""
    )
    (unit,) = annotation.TRIGGER.units(trigger_responses=[response], images=IMAGES)
    assert unit.shown["Answers"] == "Nowhere"
    rows = rows_of(
        annotation.TRIGGER, [unit], answer_to(annotation.TRIGGER, unit, "ana", accepts="yes")
    )
    assert rows == [
        TriggerVote(image="b.png", question="where is the dog?", annotator="ana", accepts=True)
    ]
