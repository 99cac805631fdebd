import json

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.suites.journeybench.construction.distractors import (
    read_statements,
    verify_statements,
)
from bench_assets.suites.journeybench.construction.look_alikes import (
    LookAlike,
    accepted_images,
    composition,
    propose_look_alikes,
    verify_look_alikes,
)
from bench_assets.suites.journeybench.construction.triggers import verify_triggers
from bench_assets.suites.journeybench.raw_material import LookAlikeVote, StatementVote, TriggerVote
from tests.cases import read_cases
from tests.suites.journeybench.construction.writers import response, statement

CAPTIONS = {"a.png": ["A fox in a raincoat reads a menu", "Two owls watch a fox"]}


class TwoWordsEncoder:
    """Gives texts with the same first two words a cosine of 1, and all others one of 0."""

    name = "first two words"

    def __init__(self):
        self.dimensions = {}

    def encode_texts(self, texts):
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            first_two = " ".join(text.lower().split()[:2])
            vectors[row, self.dimensions.setdefault(first_two, len(self.dimensions))] = 1.0
        return vectors


def statement_votes(text, *conflicts):
    """Votes on a statement, each of another annotator."""
    return [
        StatementVote(image="a.png", statement=text, annotator=f"a{n}", conflicts=conflict)
        for n, conflict in enumerate(conflicts)
    ]


def verify_statement(text, *conflicts, captions=CAPTIONS):
    votes = statement_votes(text, *conflicts)
    (decision,) = verify_statements([statement(text)], captions, votes, TwoWordsEncoder())
    return decision


def test_statements_are_read_with_the_id_of_their_request():
    text = json.dumps([{"statement": "One."}, {"statement": "Two."}])
    statements = read_statements([response("a.png/statements", f"Sure:\n```json\n{text}\n```")])
    assert [(row.statement_id, row.text, row.request_id) for row in statements.rows] == [
        ("a.png/model/1", "One.", "a.png/statements"),
        ("a.png/model/2", "Two.", "a.png/statements"),
    ]


def test_a_statement_in_conflict_for_most_annotators_is_accepted():
    decision = verify_statement("No fox reads a book", True, True, False)
    assert decision.accepted
    assert decision.reason == "2 of 3 find it in conflict"


@pytest.mark.parametrize(
    ("text", "conflicts", "reason"), read_cases(__file__, "rejected_statements.jsonl")
)
def test_a_statement_is_rejected_with_the_reason(text, conflicts, reason):
    decision = verify_statement(text, *conflicts)
    assert not decision.accepted
    assert decision.reason.startswith(reason)


def test_a_similar_statement_with_another_number_is_accepted():
    captions = {"a.png": ["So many as 2 owls"]}
    decision = verify_statement("So many as 3 owls", True, captions=captions)
    assert decision.similarity == 1.0
    assert decision.accepted


def test_a_statement_about_an_image_without_captions_is_rejected():
    decision = verify_statement("Two owls", captions={"b.png": ["An owl"]})
    assert (decision.accepted, decision.reason) == (False, "its image has no caption")


def test_a_repeated_statement_and_a_seventh_one_are_rejected():
    texts = [f"{n} bears dance" for n in range(7)]
    votes = [vote for text in texts for vote in statement_votes(text, True)]
    statements = [statement(text, number) for number, text in enumerate([texts[0], *texts])]
    decisions = verify_statements(statements, CAPTIONS, votes, TwoWordsEncoder())
    first, repeated, *accepted, seventh = decisions
    assert [decision.accepted for decision in (first, *accepted)] == [True] * 6
    assert (repeated.accepted, repeated.reason) == (False, "another statement says the same")
    assert (seventh.accepted, seventh.reason) == (False, "beyond the first 6")


TRIGGER = {"trigger": "false premises", "question": "Where is the cat?", "answers": ["Nowhere"]}


def verify_trigger(trigger, *accepts):
    votes = [
        TriggerVote(image="a.png", question="Where is the cat?", annotator=f"a{n}", accepts=accept)
        for n, accept in enumerate(accepts)
    ]
    return verify_triggers([response("a.png/triggers", json.dumps([trigger]))], votes)


def test_an_accepted_trigger_question_is_kept():
    (question,) = verify_trigger(TRIGGER, True, True, False).rows
    assert (question.entry_id, question.image, question.image_source) == (
        "a-1",
        "a.png",
        "generated",
    )
    assert question.answers == ("Nowhere",)


@pytest.mark.parametrize(
    ("change", "accepts", "reason"),
    [
        pytest.param(
            {"trigger": "riddle"}, [True], "unknown trigger 'riddle'", id="an unknown trigger"
        ),
        pytest.param({"answers": ["x"] * 6}, [True], "6 answers", id="too many answers"),
        pytest.param({"question": ""}, [True], "the question is empty", id="no question"),
        pytest.param({}, [], "open: not verified", id="no votes"),
        pytest.param({}, [True, False], "1 of 2 accept it", id="half of them"),
    ],
)
def test_a_trigger_question_is_rejected_with_the_reason(change, accepts, reason):
    questions = verify_trigger(TRIGGER | change, *accepts)
    assert questions.rows == []
    (rejection,) = questions.rejections
    assert rejection.reason.startswith(reason)


def test_a_trigger_question_that_repeats_another_is_rejected():
    vote = TriggerVote(image="a.png", question="Where is the cat?", annotator="a", accepts=True)
    text = json.dumps([TRIGGER, TRIGGER | {"answers": ["On the mat"]}])
    questions = verify_triggers([response("a.png/triggers", text)], [vote])
    assert [question.answers for question in questions.rows] == [("Nowhere",)]
    assert [row.reason for row in questions.rejections] == ["an earlier question says the same"]


def test_trigger_questions_about_images_that_differ_in_their_ending_have_different_ids():
    names, text = ("a.png", "a.jpg"), json.dumps([TRIGGER])
    votes = [
        TriggerVote(image=name, question="Where is the cat?", annotator="a", accepts=True)
        for name in names
    ]
    questions = verify_triggers([response(f"{name}/triggers", text) for name in names], votes)
    assert [question.entry_id for question in questions.rows] == ["a-1", "a-1/2"]


def ellipse_composition(colour, left):
    """Composition of an image with an ellipse on a coloured background."""
    scene = Scene(96, 96, background=colour)
    scene.form("ellipse", (left, 20, left + 40, 60), "black")
    return composition(scene.image)


def test_composition_depends_on_positions_and_not_on_the_background():
    on_white = ellipse_composition("white", left=8)
    on_grey = ellipse_composition("lightgrey", left=8)
    on_the_right = ellipse_composition("white", left=50)
    assert float(on_white @ on_grey) > 0.95
    assert float(on_white @ on_the_right) < 0.5


def test_a_blank_image_has_no_composition():
    assert float(np.linalg.norm(composition(Image.new("RGB", (9, 9))))) == 0.0


def test_each_criterion_proposes_its_nearest_image():
    subjects = np.asarray([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    layouts = np.asarray([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    proposals = propose_look_alikes(["a", "b", "c"], subjects, layouts, n=1)
    nearest = {
        row.criterion: (row.candidate, row.similarity) for row in proposals if row.image == "a"
    }
    assert nearest == {"subject": ("b", 1.0), "composition": ("c", 1.0), "both": ("b", 0.5)}


# Judgements of a look-alike: whether it is alike, and whether the captions conflict with it.
CONFIRMED, UNLIKE, NO_CONFLICT = (True, True), (False, True), (True, False)


def look_alike(candidate, similarity):
    return LookAlike(image="a", candidate=candidate, criterion="subject", similarity=similarity)


def look_alike_votes(candidate, *judgements):
    return [
        LookAlikeVote(
            image="a", candidate=candidate, annotator=f"a{n}", alike=alike, conflicts=conflicts
        )
        for n, (alike, conflicts) in enumerate(judgements)
    ]


def test_the_nearest_confirmed_images_are_kept():
    proposals = [look_alike(name, 0.1 * n) for n, name in enumerate("bcdefg")]
    votes = [
        vote
        for name in "bcdefg"
        for vote in look_alike_votes(name, CONFIRMED, CONFIRMED, NO_CONFLICT)
    ]
    decisions = verify_look_alikes(proposals, votes)
    assert accepted_images(decisions) == {"a": ["g", "f", "e", "d", "c"]}
    *_, farthest = decisions
    assert farthest.reason == "beyond the nearest 5"


@pytest.mark.parametrize(
    ("judgements", "reason"),
    [
        pytest.param([CONFIRMED, UNLIKE], "1 of 2 confirm it", id="not alike for half of them"),
        pytest.param(
            [CONFIRMED, NO_CONFLICT, NO_CONFLICT], "1 of 3 confirm it", id="the captions fit it"
        ),
        pytest.param([], "not verified", id="no votes"),
    ],
)
def test_a_look_alike_is_rejected_with_the_reason(judgements, reason):
    (decision,) = verify_look_alikes([look_alike("b", 0.5)], look_alike_votes("b", *judgements))
    assert (decision.accepted, decision.reason) == (False, reason)
