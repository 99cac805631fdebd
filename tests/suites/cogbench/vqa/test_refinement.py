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
            id="equal options",
        ),
        pytest.param(
            [source_question(), source_question(text="? ", options=("a", "b", "c", "d"))],
            [REPEATED] * 2,
            id="the same question about the same image",
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
def test_one_letter_that_is_right_much_more_often_is_unbalanced(letters, balanced):
    is_balanced, _ = letter_balance(letters)
    assert is_balanced is balanced


def write_and_read_refinements(tmp_path, *entries):
    (tmp_path / "refinements.json").write_text(json.dumps(entries))
    return read_refinements(tmp_path).require()


def test_refinements_keep_drop_and_replace_questions(tmp_path):
    kept, dropped, replaced, untouched = (source_question(text=f"{n}?") for n in range(4))
    refinements = write_and_read_refinements(
        tmp_path,
        {"question_id": question_id(kept), "action": "keep"},
        {"question_id": question_id(dropped), "action": "drop", "note": "too easy"},
        {
            "question_id": question_id(replaced),
            "action": "replace",
            "note": "clearer",
            "question": "n",
            "options": ["w", "x", "y", "z"],
            "answer": "D",
        },
        {"question_id": "cogbench/vqa/a/0", "action": "drop"},
    )

    refined = apply_refinements([kept, dropped, replaced, untouched], refinements)

    replacement = source_question(
        where="refinements.json, entry 3", text="n", options=("w", "x", "y", "z"), answer="D"
    )
    assert refined.rows == [kept, replacement, untouched]
    assert [rejection.reason for rejection in refined.rejections] == [
        "dropped by hand: too easy",
        f"replaced by {question_id(replacement)}: clearer",
        "unknown question",
    ]


@pytest.mark.parametrize(
    ("responses", "n_right", "solvable"),
    [
        pytest.param(["ten", "ten", "ten"], 3, True, id="always right"),
        pytest.param(["six", "six", "six"], 0, False, id="always wrong"),
        pytest.param(["six", "ten", "ten"], 2, False, id="right two times of three"),
    ],
)
def test_a_question_is_solvable_without_its_image_if_every_try_is_right(
    responses, n_right, solvable
):
    questions = to_questions([source_question(answer="D")], {"a": STORED}, "mini")
    model = ScriptedModel("text", lambda request: responses[request.sample])
    (row,) = ask_without_image(questions, model, tries=3, seed=0)
    assert (row.n_tries, row.n_right, row.solvable) == (3, n_right, solvable)


def test_tries_without_the_image_have_no_image_and_shuffled_options():
    questions = to_questions([source_question(answer="D")], {"a": STORED}, "mini")
    requests: list[Request] = []

    def answer(request: Request) -> str:
        requests.append(request)
        return "ten"

    ask_without_image(questions, ScriptedModel("text", answer), tries=3, seed=0)
    assert [request.prompt.images for request in requests] == [()] * 3
    assert len({request.question.options for request in requests if request.question}) > 1


def test_a_key_that_is_the_longest_option_is_solvable():
    questions = to_questions(
        [source_question(options=("a", "b", "c", "dddd"), answer="D")], {"a": STORED}, "mini"
    )
    (row,) = ask_without_image(questions, ScriptedModel("l", longest_option), tries=3, seed=0)
    assert row.solvable


def written_question(options=("one", "two", "three", "as long as all others")):
    return WrittenQuestion(
        question_id="q",
        image_id="a",
        kind="Event",
        text="q?",
        options=options,
        answer="D",
        chain=1,
        side="conclusion",
        tries=1,
        writer="w",
    )


def propose(question, solved_ids=()):
    language_only = [
        LanguageOnly(question_id=solved_id, model="m", n_tries=3, n_right=3, solvable=True)
        for solved_id in solved_ids
    ]
    ((proposal,),) = WRITTEN.candidates(
        written=[question], language_only=language_only, images=[STORED]
    )
    return proposal


def decide_proposal(proposal):
    (row,) = WRITTEN.vote([[proposal]], (), lambda *_: [])
    return row


def test_a_proposal_names_its_doubts():
    proposal = propose(written_question())
    solved = propose(written_question(), solved_ids=[proposal.id])
    assert proposal.doubt == TOO_LONG
    assert solved.doubt == f"{TOO_LONG}; {SOLVABLE}"


def test_a_doubtful_question_is_reviewed_although_its_key_is_accepted():
    row = decide_proposal(propose(written_question()))
    (unit,) = REVIEW.units(proposals=[row])
    assert row.decision == "accepted"
    assert "as long as all others" in unit.shown["Question"]
    assert unit.shown["Doubtful"] == TOO_LONG
    assert unit.images == {"Image 1": "a" * 64}


def test_an_accepted_question_without_doubts_is_not_reviewed():
    row = decide_proposal(propose(written_question(options=("one", "two", "six", "ten"))))
    assert REVIEW.units(proposals=[row]) == []
