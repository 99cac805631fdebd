import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.suites.cogbench.construction.selection import question_id
from bench_assets.suites.cogbench.dataset.source import SourceQuestion
from bench_assets.suites.cogbench.vqa.questions import to_questions
from bench_assets.suites.cogbench.vqa.refinement import (
    EQUAL_OPTIONS,
    REPEATED,
    TOO_LONG,
    ask_without_image,
    find_flags,
    letter_balance,
    longest_option,
    read_refinements,
    refine,
)
from resources.models.registry.baselines import ScriptedModel


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
    return read_refinements(tmp_path)


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
    refined = refine([kept, dropped, replaced, untouched], refinements)
    assert [q.text for q in refined.questions] == ["k", "new", "u"]
    new = refined.questions[1]
    assert (new.image_id, new.category, new.options, new.answer) == (
        "a",
        "event",
        tuple("wxyz"),
        "D",
    )
    assert [row.reason for row in refined.rejections] == [
        "dropped by hand: too easy",
        f"replaced by {question_id(new)}: clearer",
        "there is no such question",
    ]


def test_an_unknown_action_is_named_with_its_place(tmp_path):
    with pytest.raises(SourceError, match=r"refinements\.json, entry 1: action 'maybe'"):
        decided(tmp_path, {"question_id": "x", "action": "maybe"})


IMAGE = StoredImage(name="a.png", sha256="0", format="PNG", width=1, height=1, n_bytes=1)


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
