"""What people are asked about CODIS, and what their answers become."""

import pytest

from bench_assets.annotation.answers.validation import resolve_answers
from bench_assets.suites.codis import annotation
from bench_assets.suites.codis.votes import decide_submissions
from tests.fakes.answers import answer_to
from tests.fakes.codis_source import pair, vote
from tests.fakes.rows import stored

WRITTEN = {
    "question": ("Coming or going?",),
    "context_1": ("It is morning.",),
    "answer_1": ("Going.",),
    "context_2": ("It is evening.",),
    "answer_2": ("Coming.",),
    "category": ("Temporal Information",),
}
ANA, BO, CEM = (pair(pair_id=f"s-{name}", annotator=name) for name in ("ana", "bo", "cem"))
DIGEST = "0f" * 32


def rows_of(task, unit, person, values):
    resolved = resolve_answers(task.task, [unit], [answer_to(task, unit, person, **values)])
    assert resolved.refused == []
    return task.to_rows(resolved.answers)


def test_a_image_that_somebody_brings_is_named_by_its_digest_once():
    units = annotation.IMAGES.units()
    assert (len(units), {unit.needed for unit in units}) == (75, {5})  # 375 of the paper's 377
    both = [answer_to(annotation.IMAGES, unit, "ana", image=DIGEST) for unit in units[:2]]
    assert annotation.IMAGES.to_rows(
        resolve_answers(annotation.IMAGES.task, units, both).answers
    ) == [DIGEST]


def test_a_question_that_somebody_writes_is_a_submission_of_the_image():
    (unit,) = annotation.SUBMISSIONS.units(images=[stored("my cat/1.png")])
    (row,) = rows_of(annotation.SUBMISSIONS, unit, "ana", WRITTEN)
    assert row == pair(
        pair_id="my_cat_1.png-ana",
        image="my cat/1.png",
        question="Coming or going?",
        contexts=("It is morning.", "It is evening."),
        answers=("Going.", "Coming."),
        category="Temporal Information",
        annotator="ana",
    )


def test_all_others_vote_on_what_has_a_image_and_is_not_published():
    pairs = [ANA, BO, CEM, pair(pair_id="lost", image="b.png", annotator="bo"), pair(pair_id="1")]
    units = annotation.VOTES.units(submitted=pairs, images=[stored("a.png")])
    assert [(unit.unit_id, unit.barred) for unit in units] == [
        ("s-ana", ("ana",)),
        ("s-bo", ("bo",)),
        ("s-cem", ("cem",)),
    ]


def test_the_names_of_others_are_shown_to_nobody():
    votes = [vote("s-ana", "bo", correct=False, comment="Too easy."), vote("s-ana", "cem")]
    pairs, images = [ANA, BO, CEM], [stored("a.png")]
    units = [
        *annotation.VOTES.units(submitted=pairs, images=images),
        *annotation.REVISIONS.units(submitted=pairs, first_votes=votes, voted_on=[], images=images),
    ]
    shown = " ".join(text for unit in units for text in unit.shown.values()).split()
    assert not {"ana", "bo", "cem"} & set(shown)


@pytest.mark.parametrize(
    ("votes", "n_units"),
    [
        pytest.param([vote("s-ana", "bo", correct=False), vote("s-ana", "cem")], 1, id="not right"),
        pytest.param([vote("s-ana", "bo", correct=False)], 0, id="cem has not voted yet"),
    ],
)
def test_only_what_was_voted_down_is_revised_and_by_its_author(votes, n_units):
    units = annotation.REVISIONS.units(
        submitted=[ANA, BO, CEM], first_votes=votes, voted_on=[], images=[stored("a.png")]
    )
    assert [unit.barred for unit in units] == [("bo", "cem")] * n_units


def test_a_revision_is_voted_on_and_takes_the_place_of_the_first():
    submitted, images = [ANA, BO, CEM], [stored("a.png")]
    first = [vote("s-ana", "bo", correct=False), vote("s-ana", "cem")]
    (unit,) = annotation.REVISIONS.units(
        submitted=submitted, first_votes=first, voted_on=[], images=images
    )
    revised = annotation.add_images(rows_of(annotation.REVISIONS, unit, "ana", WRITTEN), submitted)
    submissions = [*submitted, *revised]
    (again,) = annotation.REVISION_VOTES.units(
        submissions=submissions, submitted=submitted, images=images
    )
    assert (again.unit_id, again.needed) == ("s-ana-revised", 2)
    yes = {name: ("yes",) for name in ("correct", "different", "within_rules")}
    votes = [
        row
        for person in ("bo", "cem")
        for row in rows_of(annotation.REVISION_VOTES, again, person, yes)
    ]
    outcomes = {
        one.submission: one.outcome for one in decide_submissions(submissions, [*first, *votes])
    }
    assert (outcomes["s-ana"], outcomes["s-ana-revised"]) == ("revised", "kept")
    assert (votes[0].seconds, votes[0].tool) == (2.0, "pages")
