"""What people are asked about written questions, and the refinements that come of it."""

import pytest

from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from bench_assets.suites.cogbench.vqa.annotation import QUESTION_REVIEW, refinements
from bench_assets.suites.cogbench.vqa.questions import WrittenQuestion
from bench_assets.suites.cogbench.vqa.refinement import (
    SOLVABLE,
    TOO_LONG,
    LanguageOnly,
    Refinement,
    refine,
)
from tests.annotation.said import answer, fits

KEEP, DROP, REPLACE = "it is sound: keep it", "it cannot be saved: drop it", "ask it like this:"
STORED = StoredImage(name="a.png", sha256="a" * 64, format="PNG", width=9, height=9, n_bytes=9)
NEW = {"question": "What\nnow?", "options": ["a", "b", "c", "d"], "right": "B"}


def written(name="q", options=("one", "two", "three", "as long as all others")):
    return WrittenQuestion(
        question_id=name,
        image_id="a",
        kind="Event",
        text=f"{name}?",
        options=options,
        answer="D",
        chain=1,
        side="conclusion",
        tries=1,
        writer="w",
    )


def units(*questions, solved=()):
    rows = [
        LanguageOnly(question_id=name, model="m", n_tries=3, n_right=3, solvable=True)
        for name in solved
    ]
    return QUESTION_REVIEW.units(written=list(questions), language_only=rows, images=[STORED])


def test_each_question_is_shown_with_its_options_its_key_and_what_is_doubtful():
    (unit,) = units(written())
    (again,) = units(written(), solved=[unit.unit_id])
    assert unit.shown["Options"] == "A. one\nB. two\nC. three\nD. as long as all others"
    assert (unit.shown["Called right"], unit.shown["Doubtful"]) == ("D", TOO_LONG)
    assert again.shown["Doubtful"] == f"{TOO_LONG}; {SOLVABLE}"
    assert unit.images == {"Image": "a" * 64}


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        pytest.param({"action": KEEP}, "", id="kept"),
        pytest.param({"action": REPLACE, **NEW}, "", id="written anew"),
        pytest.param({}, "action: empty", id="nothing decided"),
        pytest.param(
            {"action": REPLACE, **NEW, "options": ["a", "b"]},
            "options: 2 entries (expected 4 to 4)",
            id="two options",
        ),
    ],
)
def test_what_fits_the_form(values, complaint):
    (unit,) = units(written())
    assert fits(QUESTION_REVIEW.task, unit, answer(unit.unit_id, **values)) == complaint


def refinement(action, note="", replacement=None):
    return Refinement(question_id="q", action=action, note=note, replacement=replacement)


@pytest.mark.parametrize(
    ("said", "rows", "why"),
    [
        pytest.param([{"action": KEEP}], [refinement("keep")], "", id="kept"),
        pytest.param(
            [{"action": DROP, "note": "two are\nright"}],
            [refinement("drop", "two are right")],
            "",
            id="dropped, with the reason",
        ),
        pytest.param(
            [{"action": REPLACE, **NEW}],
            [
                refinement(
                    "replace",
                    replacement=SourceQuestion(
                        where="review by p0",
                        image_id="",
                        category="",
                        text="What now?",
                        options=("a", "b", "c", "d"),
                        answer="B",
                    ),
                )
            ],
            "",
            id="written anew",
        ),
        pytest.param(
            [{"action": REPLACE, "question": "What?"}],
            [],
            "written anew without options, right",
            id="written anew by halves",
        ),
        pytest.param(
            [{"action": KEEP}, {"action": DROP}], [], "the reviewers are divided", id="divided"
        ),
        pytest.param(
            [{"action": DROP}, {"action": KEEP}, {"action": KEEP}],
            [refinement("keep")],
            "",
            id="two of three keep it",
        ),
    ],
)
def test_a_refinement_is_what_most_reviewers_say(said, rows, why):
    answers = [answer("q", f"p{number}", **values) for number, values in enumerate(said)]
    found = refinements(answers)
    assert QUESTION_REVIEW.to_rows(answers) == found.rows == rows
    assert [one.reason for one in found.rejections] == ([why] if why else [])


def test_a_question_that_was_written_anew_is_asked_in_the_place_of_the_old_one():
    (unit,) = units(written())
    source = SourceQuestion(
        where="q", image_id="a", category="event", text="q?", options=written().options, answer="D"
    )
    decided = QUESTION_REVIEW.to_rows([answer(unit.unit_id, action=REPLACE, **NEW)])
    (asked,) = refine([source], decided).questions
    assert (asked.image_id, asked.category, asked.text) == ("a", "event", "What now?")
