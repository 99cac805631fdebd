"""Statements and trigger questions: what is kept, and why the others are not."""

import json

import numpy as np
import pytest
from PIL import Image

from bench_assets.core.images.synthetic_scenes import Scene
from bench_assets.suites.journeybench.construction.distractors import (
    Statement,
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
from tests.suites.journeybench.construction.writers import response

CAPTIONS = {"a.png": ["A fox in a raincoat reads a menu", "Two owls watch a fox"]}


class Encoder:
    """Texts with the same first two words are the same; all others have nothing in common."""

    name = "first two words"

    def __init__(self):
        self.places = {}

    def encode_texts(self, texts):
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            first_two = " ".join(text.lower().split()[:2])
            vectors[row, self.places.setdefault(first_two, len(self.places))] = 1.0
        return vectors


def statement(text, number=1):
    return Statement(
        statement_id=f"a.png/model/{number}",
        image="a.png",
        text=text,
        way="model",
        request_id="a.png/statements",
        writer="w",
        prompt_sha256="sha",
    )


def votes(text, *conflicts):
    return [
        StatementVote(image="a.png", statement=text, annotator=f"a{n}", conflicts=conflict)
        for n, conflict in enumerate(conflicts)
    ]


def verify(text, *conflicts):
    (decision,) = verify_statements([statement(text)], CAPTIONS, votes(text, *conflicts), Encoder())
    return decision


def test_statements_carry_the_response_they_come_from():
    text = json.dumps([{"statement": "One."}, {"statement": "Two."}])
    read = read_statements([response("a.png/statements", f"Sure:\n```json\n{text}\n```")])
    assert [(row.statement_id, row.text) for row in read.rows] == [
        ("a.png/model/1", "One."),
        ("a.png/model/2", "Two."),
    ]
    assert {row.request_id for row in read.rows} == {"a.png/statements"}


def test_a_statement_that_most_find_in_conflict_is_accepted():
    decision = verify("No fox reads a book", True, True, False)
    assert decision.accepted
    assert decision.reason.startswith("2 of 3 find it in")


@pytest.mark.parametrize(
    ("text", "conflicts", "reason"),
    [
        pytest.param(
            "No fox reads", (True, False), "1 of 2 find it in conflict", id="half of them"
        ),
        pytest.param("No fox reads", (), "not verified", id="no votes"),
        pytest.param(
            "a FOX in a raincoat reads a menu.", (True,), "follows from", id="a caption itself"
        ),
        pytest.param(
            "A fox has something to read",
            (True,),
            "says what 'A fox",
            id="a caption in other words",
        ),
    ],
)
def test_a_statement_that_is_not_accepted_says_why(text, conflicts, reason):
    decision = verify(text, *conflicts)
    assert not decision.accepted
    assert decision.reason.startswith(reason)


def test_texts_that_count_otherwise_do_not_say_the_same_whatever_the_encoder_finds():
    captions = {"a.png": ["So many as 2 owls"]}
    text = "So many as 3 owls"
    (decision,) = verify_statements([statement(text)], captions, votes(text, True), Encoder())
    assert decision.similarity == 1.0
    assert decision.accepted


def test_a_statement_about_an_image_without_captions_is_rejected():
    (decision,) = verify_statements([statement("Two owls")], {"b.png": ["An owl"]}, [], Encoder())
    assert (decision.accepted, decision.reason) == (False, "its image has no caption")


def test_a_statement_counts_once_and_six_are_enough():
    texts = [f"{n} bears dance" for n in range(7)]
    cast = [vote for text in texts for vote in votes(text, True)]
    listed = [statement(text, n) for n, text in enumerate([texts[0], *texts])]
    decisions = verify_statements(listed, CAPTIONS, cast, Encoder())
    assert [decision.accepted for decision in decisions] == [True, False, *[True] * 5, False]
    assert decisions[1].reason == "another statement says the same"
    assert decisions[-1].reason == "beyond the first 6"


TRIGGER = {"trigger": "false premises", "question": "Where is the cat?", "answers": ["Nowhere"]}


def triggered(change, *accepts):
    cast = [
        TriggerVote(image="a.png", question="Where is the cat?", annotator=f"a{n}", accepts=accept)
        for n, accept in enumerate(accepts)
    ]
    return verify_triggers([response("a.png/triggers", json.dumps([TRIGGER | change]))], cast)


def test_an_accepted_trigger_question_is_kept():
    (question,) = triggered({}, True, True, False).rows
    assert (question.entry_id, question.image, question.image_source) == (
        "a-1",
        "a.png",
        "generated",
    )
    assert question.answers == ("Nowhere",)


@pytest.mark.parametrize(
    ("change", "accepts", "reason"),
    [
        pytest.param({"trigger": "riddle"}, [True], "unknown trigger 'riddle'", id="unknown kind"),
        pytest.param({"answers": ["x"] * 6}, [True], "6 answers", id="too many answers"),
        pytest.param({"question": ""}, [True], "the question is empty", id="no question"),
        pytest.param({}, [], "open: not verified", id="no votes"),
        pytest.param({}, [True, False], "1 of 2 accept it", id="half of them"),
    ],
)
def test_a_trigger_question_that_is_not_kept_says_why(change, accepts, reason):
    decisions = triggered(change, *accepts)
    assert decisions.rows == []
    assert decisions.rejections[0].reason.startswith(reason)


def drawn(colour, left):
    scene = Scene(96, 96, background=colour)
    scene.form("ellipse", (left, 20, left + 40, 60), "black")
    return composition(scene.image)


def test_composition_sees_where_things_lie_not_on_what():
    here, on_grey, there = drawn("white", 8), drawn("lightgrey", 8), drawn("white", 50)
    assert float(here @ on_grey) > 0.95
    assert float(here @ there) < 0.5
    assert float(np.linalg.norm(composition(Image.new("RGB", (9, 9))))) == 0.0


def test_each_criterion_proposes_its_own_nearest_image():
    subjects = np.asarray([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    layouts = np.asarray([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    proposed = propose_look_alikes(["a", "b", "c"], subjects, layouts, n=1)
    of_a = {one.criterion: (one.candidate, one.similarity) for one in proposed if one.image == "a"}
    assert of_a == {"subject": ("b", 1.0), "composition": ("c", 1.0), "both": ("b", 0.5)}


YES, UNLIKE, FITS = (True, True), (False, True), (True, False)


def look_alike(candidate, similarity, criterion="subject"):
    return LookAlike(image="a", candidate=candidate, criterion=criterion, similarity=similarity)


def seen(candidate, *judgements):
    return [
        LookAlikeVote(
            image="a", candidate=candidate, annotator=f"a{n}", alike=alike, conflicts=conflicts
        )
        for n, (alike, conflicts) in enumerate(judgements)
    ]


def test_the_nearest_confirmed_images_are_kept():
    proposed = [look_alike(name, 0.1 * n) for n, name in enumerate("bcdefg")]
    cast = [vote for name in "bcdefg" for vote in seen(name, YES, YES, FITS)]
    decisions = verify_look_alikes(proposed, cast)
    assert accepted_images(decisions) == {"a": ["g", "f", "e", "d", "c"]}
    assert decisions[-1].reason == "beyond the nearest 5"


@pytest.mark.parametrize(
    ("cast", "reason"),
    [
        pytest.param(seen("b", YES, UNLIKE), "1 of 2 confirm it", id="not alike for half of them"),
        pytest.param(seen("b", YES, FITS, FITS), "1 of 3 confirm it", id="the captions fit it too"),
        pytest.param([], "not verified", id="no votes"),
    ],
)
def test_a_image_that_is_not_confirmed_says_why(cast, reason):
    (decision,) = verify_look_alikes([look_alike("b", 0.5)], cast)
    assert (decision.accepted, decision.reason) == (False, reason)
