import json

import pytest

from bench_assets.annotation.gold import proposal_task
from bench_assets.core.schema.chat import Request
from bench_assets.suites.cogbench.construction.selection import question_id
from bench_assets.suites.cogbench.vqa.questions import WRITTEN, WrittenQuestion, to_questions
from bench_assets.suites.cogbench.vqa.refinement import (
    EQUAL_OPTIONS,
    REPEATED,
    SOLVABLE,
    TOO_LONG,
    LanguageOnly,
    apply_refinements,
    ask_without_image,
    find_flags,
    letter_balance,
    longest_option,
    read_refinements,
)
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.keeping import keep
from tests.fakes.rows import stored
from tests.suites.cogbench.release import source_question

REVIEW = proposal_task(WRITTEN)
STORED = stored("a.png", "a" * 64)


@pytest.mark.parametrize(
    ("questions", "flags"),
    [
        pytest.param([source_question()], [], id="nothing doubtful"),
        pytest.param(
            [source_question(options=("o", "t", "abcd", "ab"))], [TOO_LONG], id="twice as long"
        ),
        pytest.param(
            [source_question(options=("o", "t", "abc", "ab"))], [], id="half as long again"
        ),
        pytest.param(
            [source_question(options=("one", "One.", "six", "ten"))],
            [EQUAL_OPTIONS],
            id="said twice",
        ),
        pytest.param(
            [source_question(), source_question(text="? ", options=("a", "b", "c", "d"))],
            [REPEATED] * 2,
            id="asked",
        ),
    ],
)
def test_doubtful_questions_are_flagged(questions, flags):
    assert [flag for _, flag in find_flags(questions, [])] == flags


@pytest.mark.parametrize(
    ("letters", "balanced"),
    [
        pytest.param("ABCD" * 10, True, id="even"),
        pytest.param("A" * 20 + "BCD" * 10, False, id="A is right twice as often as the others"),
        pytest.param("AAA", True, id="too few to tell"),
    ],
)
def test_the_right_letters_are_balanced(letters, balanced):
    assert letter_balance(letters)[0] is balanced


def decided(tmp_path, *entries):
    (tmp_path / "refinements.json").write_text(json.dumps(entries))
    return read_refinements(tmp_path).require()


def test_people_keep_drop_and_replace(tmp_path):
    kept, dropped, replaced, untouched = (source_question(text=text) for text in "kdru")
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


@pytest.mark.parametrize(
    ("says", "n_right", "solvable"),
    [
        pytest.param(lambda _: "ten", 3, True, id="knows it"),
        pytest.param(lambda _: "six", 0, False, id="is wrong"),
        pytest.param(
            lambda r: "ten" if r.sample else "six", 2, False, id="right two times of three"
        ),
    ],
)
def test_what_is_right_every_time_is_solvable_without_the_image(says, n_right, solvable):
    questions = to_questions([source_question(answer="D")], {"a": STORED}, "mini")
    seen: list[Request] = []
    model = ScriptedModel("text", lambda request: says(keep(seen, request)))
    (row,) = ask_without_image(questions, model, tries=3, seed=0)
    assert (row.n_tries, row.n_right, row.solvable) == (3, n_right, solvable)
    assert all(request.prompt.images == () for request in seen)
    assert len({request.question and request.question.options for request in seen}) > 1


def test_the_longest_option_is_found_wherever_it_stands():
    questions = to_questions(
        [source_question(options=("a", "b", "c", "dddd"), answer="D")], {"a": STORED}, "mini"
    )
    (row,) = ask_without_image(questions, ScriptedModel("l", longest_option), tries=3, seed=0)
    assert row.solvable


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


def propose(question, solved=()):
    rows = [
        LanguageOnly(question_id=name, model="m", n_tries=3, n_right=3, solvable=True)
        for name in solved
    ]
    ((proposal,),) = WRITTEN.candidates(written=[question], language_only=rows, images=[STORED])
    return proposal


def decide_proposal(proposal):
    (row,) = WRITTEN.vote([[proposal]], (), lambda *_: [])
    return row


def test_people_see_what_is_doubtful_although_its_key_is_accepted():
    proposal = propose(written())
    doubtful = propose(written(), solved=[proposal.id])
    assert (proposal.doubt, doubtful.doubt) == (TOO_LONG, f"{TOO_LONG}; {SOLVABLE}")
    row = decide_proposal(doubtful)
    (unit,) = REVIEW.units(proposals=[row])
    assert row.decision == "accepted"
    assert "as long as all others" in unit.shown["Question"]
    assert (unit.shown["Doubtful"], unit.images) == (doubtful.doubt, {"Image 1": "a" * 64})
    sound = decide_proposal(propose(written(options=("one", "two", "six", "ten"))))
    assert REVIEW.units(proposals=[sound]) == []
