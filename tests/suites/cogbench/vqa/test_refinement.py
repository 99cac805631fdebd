import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.cogbench.construction.selection import question_id
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from bench_assets.suites.cogbench.vqa.annotation import QUESTION_REVIEW, refinements
from bench_assets.suites.cogbench.vqa.questions import WrittenQuestion, to_questions
from bench_assets.suites.cogbench.vqa.refinement import (
    EQUAL_OPTIONS,
    REPEATED,
    SOLVABLE,
    TOO_LONG,
    LanguageOnly,
    Refinement,
    apply_refinements,
    ask_without_image,
    find_flags,
    letter_balance,
    longest_option,
    read_refinements,
)
from bench_resources.models.registry.baselines import ScriptedModel
from tests.annotation.said import answer, fits
from tests.fakes.rows import stored


def question(text="?", options=("one", "two", "six", "ten"), answer="A"):
    return SourceQuestion(
        where="", image_id="a", category="event", text=text, options=options, answer=answer
    )


@pytest.mark.parametrize(
    ("questions", "flags"),
    [
        pytest.param([question()], [], id="nothing doubtful"),
        pytest.param([question(options=("o", "t", "abcd", "ab"))], [TOO_LONG], id="twice as long"),
        pytest.param([question(options=("o", "t", "abc", "ab"))], [], id="half as long again"),
        pytest.param(
            [question(options=("one", "One.", "six", "ten"))], [EQUAL_OPTIONS], id="said twice"
        ),
        pytest.param(
            [question(), question("? ", options=("a", "b", "c", "d"))], [REPEATED] * 2, id="asked"
        ),
    ],
)
def test_doubtful_questions_are_flagged(questions, flags):
    assert [flag for _, flag in find_flags(questions)] == flags


@pytest.mark.parametrize(
    ("letters", "balanced"),
    [
        pytest.param("ABCD" * 10, True, id="even"),
        pytest.param("A" * 20 + "BCD" * 10, False, id="A is right twice as often as the others"),
        pytest.param("AB" * 20, False, id="C and D are never right"),
        pytest.param("AAA", True, id="too few to tell"),
        pytest.param("", True, id="none"),
    ],
)
def test_the_right_letters_are_balanced(letters, balanced):
    assert letter_balance(letters)[0] is balanced


def decided(tmp_path, *entries):
    (tmp_path / "refinements.json").write_text(json.dumps(entries))
    return read_refinements(tmp_path).require()


def test_people_keep_drop_and_replace(tmp_path):
    kept, dropped, replaced, untouched = (question(text) for text in "kdru")
    refinements = decided(
        tmp_path,
        {"question_id": question_id(kept), "action": "keep"},
        {"question_id": question_id(dropped), "action": "drop", "note": "too easy"},
        {
            "question_id": question_id(replaced),
            "action": "replace",
            "note": "clearer",
            "question": "new",
            "options": ["w", "x", "y", "z"],
            "answer": "D",
        },
        {"question_id": "cogbench/vqa/a/0", "action": "drop"},
    )
    refined = apply_refinements([kept, dropped, replaced, untouched], refinements)
    assert [q.text for q in refined.rows] == ["k", "new", "u"]
    new = refined.rows[1]
    assert new.where == "refinements.json, entry 3"
    assert (new.image_id, new.category, new.options, new.answer) == (
        "a",
        "event",
        tuple("wxyz"),
        "D",
    )
    assert [row.reason for row in refined.rejections] == [
        "dropped by hand: too easy",
        f"replaced by {question_id(new)}: clearer",
        "unknown question",
    ]


def test_an_unknown_action_is_named_with_its_place(tmp_path):
    with pytest.raises(SourceError, match=r"refinements\.json, entry 1: action 'maybe'"):
        decided(tmp_path, {"question_id": "x", "action": "maybe"})


IMAGE = stored("a.png", "0")


@pytest.mark.parametrize(
    ("says", "n_right", "solvable"),
    [
        pytest.param(lambda _: "ten", 3, True, id="knows it"),
        pytest.param(lambda _: "six", 0, False, id="is wrong"),
        pytest.param(lambda _: "", 0, False, id="says nothing"),
        pytest.param(
            lambda r: "ten" if r.sample else "six", 2, False, id="right two times of three"
        ),
    ],
)
def test_what_is_right_every_time_is_solvable_without_the_image(says, n_right, solvable):
    asked = to_questions([question(answer="D")], {"a": IMAGE}, "mini")
    seen = []
    model = ScriptedModel("text", lambda r: seen.append(r) or says(r))
    (row,) = ask_without_image(asked, model, tries=3, seed=0)
    assert (row.n_tries, row.n_right, row.solvable) == (3, n_right, solvable)
    assert all(request.prompt.images == () for request in seen)
    assert len({request.question.options for request in seen}) > 1


def test_the_longest_option_is_found_wherever_it_stands():
    asked = to_questions(
        [question(options=("a", "b", "c", "dddd"), answer="D")], {"a": IMAGE}, "mini"
    )
    (row,) = ask_without_image(asked, ScriptedModel("l", longest_option), tries=3, seed=0)
    assert row.solvable


KEEP, DROP, REPLACE = "it is sound: keep it", "it cannot be saved: drop it", "ask it like this:"
STORED = stored("a.png", "a" * 64)
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
            "replacement without options, right",
            id="written anew by halves",
        ),
        pytest.param(
            [{"action": KEEP}, {"action": DROP}],
            [],
            "no majority among reviewers",
            id="divided",
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
    (asked,) = apply_refinements([source], decided).rows
    assert (asked.image_id, asked.category, asked.text) == ("a", "event", "What now?")
