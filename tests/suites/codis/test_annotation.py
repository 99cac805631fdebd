import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.suites.codis import annotation
from bench_assets.suites.codis.votes import decide_submissions
from tests.fakes.answers import answer_to
from tests.fakes.codis_source import pair, vote
from tests.fakes.rows import stored

WRITTEN_PAIR = {
    "question": ("Coming or going?",),
    "context_1": ("It is morning.",),
    "answer_1": ("Going.",),
    "context_2": ("It is evening.",),
    "answer_2": ("Coming.",),
    "category": ("Temporal Information",),
}
ANA, BO, CEM = (pair(pair_id=f"s-{name}", annotator=name) for name in ("ana", "bo", "cem"))
DIGEST = "0f" * 32


def answer_rows(task, unit, person, values):
    resolved = resolve_answers(task.task, [unit], [answer_to(task, unit, person, **values)])
    assert resolved.refused == []
    return task.to_rows(resolved.answers)


def test_people_are_asked_for_about_as_many_images_as_the_paper_has():
    units = annotation.IMAGES.units()
    assert len(units) == 75
    assert {unit.needed for unit in units} == {5}  # 375 images; the paper has 377


def test_an_image_that_is_uploaded_twice_is_named_by_its_digest_once():
    units = annotation.IMAGES.units()[:2]
    answers = [answer_to(annotation.IMAGES, unit, "ana", image=DIGEST) for unit in units]
    resolved = resolve_answers(annotation.IMAGES.task, units, answers)
    assert annotation.IMAGES.to_rows(resolved.answers) == [DIGEST]


def test_a_question_that_a_person_writes_is_a_submission_of_the_image():
    (unit,) = annotation.SUBMISSIONS.units(images=[stored("my cat/1.png")])
    (row,) = answer_rows(annotation.SUBMISSIONS, unit, "ana", WRITTEN_PAIR)
    assert row == pair(
        pair_id="my_cat_1.png-ana",
        image="my cat/1.png",
        question="Coming or going?",
        contexts=("It is morning.", "It is evening."),
        answers=("Going.", "Coming."),
        category="Temporal Information",
        annotator="ana",
    )


def test_all_but_the_author_vote_on_a_submission_that_has_an_image():
    pairs = [ANA, BO, CEM, pair(pair_id="lost", image="b.png", annotator="bo"), pair(pair_id="1")]
    units = annotation.VOTES.units(submitted=pairs, images=[stored("a.png")])
    assert [(unit.unit_id, unit.barred) for unit in units] == [
        ("s-ana", ("ana",)),
        ("s-bo", ("bo",)),
        ("s-cem", ("cem",)),
    ]


def test_no_unit_shows_the_name_of_an_annotator():
    votes = [vote("s-ana", "bo", correct=False, comment="Too easy."), vote("s-ana", "cem")]
    pairs, images = [ANA, BO, CEM], [stored("a.png")]
    units = [
        *annotation.VOTES.units(submitted=pairs, images=images),
        *annotation.REVISIONS.units(submitted=pairs, first_votes=votes, voted_on=[], images=images),
    ]
    words = " ".join(text for unit in units for text in unit.shown.values()).split()
    assert words
    assert not {"ana", "bo", "cem"} & set(words)


@pytest.mark.parametrize(
    ("votes", "n_units"),
    [
        pytest.param([vote("s-ana", "bo", correct=False), vote("s-ana", "cem")], 1, id="not right"),
        pytest.param([vote("s-ana", "bo", correct=False)], 0, id="cem has not voted yet"),
    ],
)
def test_a_submission_that_is_voted_down_is_revised_by_its_author(votes, n_units):
    units = annotation.REVISIONS.units(
        submitted=[ANA, BO, CEM], first_votes=votes, voted_on=[], images=[stored("a.png")]
    )
    assert [unit.barred for unit in units] == [("bo", "cem")] * n_units


@pytest.mark.parametrize(("correct", "n_units"), [(True, 0), (False, 1)])
def test_a_pair_that_repeats_an_id_is_not_revised(correct, n_units):
    repeated = pair(pair_id="s-ana", annotator="bo")
    votes = [vote("s-ana", name, correct=correct) for name in ("bo", "cem")]
    units = annotation.REVISIONS.units(
        submitted=[ANA, BO, CEM, repeated],
        first_votes=votes,
        voted_on=[],
        images=[stored("a.png")],
    )
    assert [unit.barred for unit in units] == [("bo", "cem")] * n_units


def test_a_revision_that_is_approved_replaces_its_submission():
    submitted, images = [ANA, BO, CEM], [stored("a.png")]
    first_votes = [vote("s-ana", "bo", correct=False), vote("s-ana", "cem")]
    (unit,) = annotation.REVISIONS.units(
        submitted=submitted, first_votes=first_votes, voted_on=[], images=images
    )
    revised = annotation.add_images(
        answer_rows(annotation.REVISIONS, unit, "ana", WRITTEN_PAIR), submitted
    )
    submissions = [*submitted, *revised]
    (revision_unit,) = annotation.REVISION_VOTES.units(
        submissions=submissions, submitted=submitted, images=images
    )
    assert (revision_unit.unit_id, revision_unit.needed) == ("s-ana-revised", 2)
    yes = {name: ("yes",) for name in ("correct", "different", "within_rules")}
    votes = [
        row
        for person in ("bo", "cem")
        for row in answer_rows(annotation.REVISION_VOTES, revision_unit, person, yes)
    ]
    decisions = decide_submissions(submissions, [*first_votes, *votes])
    outcomes = {decision.submission: decision.outcome for decision in decisions}
    assert (outcomes["s-ana"], outcomes["s-ana-revised"]) == ("revised", "kept")


def test_a_vote_keeps_the_time_and_the_tool_of_its_answer():
    unit, *_ = annotation.VOTES.units(submitted=[ANA, BO], images=[stored("a.png")])
    yes = {name: ("yes",) for name in ("correct", "different", "within_rules")}
    (row,) = answer_rows(annotation.VOTES, unit, "bo", yes)
    assert (row.seconds, row.tool) == (2.0, "pages")  # as answer_to writes them
