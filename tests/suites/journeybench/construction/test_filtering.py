import json

import pytest

from bench_assets.annotation.tasks import UndecidedUnits
from bench_assets.suites.journeybench.construction.filtering import (
    agreement,
    count_steps,
    decide_images,
    kept_captions,
    verify_captions,
)
from bench_assets.suites.journeybench.raw_material import (
    CAPTIONS,
    IMAGES,
    LOOK_ALIKES,
    STATEMENTS,
    CaptionVote,
    FilterVote,
    GalleryImage,
    WrittenCaption,
    read_raw_rows,
)


def gallery_images(*names):
    return [GalleryImage(image=name, query="giant animal", prompt="a cat") for name in names]


def filter_votes(image, *passed_criteria):
    """A vote for each text: "ufc" passes unusual, fictional and comprehensible, "fc" only two."""
    return [
        FilterVote(
            image=image,
            annotator=f"a{index}",
            unusual="u" in initials,
            fictional="f" in initials,
            comprehensible="c" in initials,
        )
        for index, initials in enumerate(passed_criteria)
    ]


@pytest.mark.parametrize(
    ("passed_criteria", "kept", "reason"),
    [
        pytest.param(
            ["ufc", "ufc", "ufc", "fc"], True, "passes every criterion", id="three of four"
        ),
        pytest.param(["ufc", "ufc", "uc", "uc"], False, "not fictional: 2 of 4", id="half"),
        pytest.param(["ufc"] * 3, False, "3 of 4 needed votes", id="three annotators"),
    ],
)
def test_an_image_is_kept_if_most_of_four_votes_pass_every_criterion(passed_criteria, kept, reason):
    votes = filter_votes("a", *passed_criteria)
    (decision,) = decide_images(gallery_images("a"), votes, {"a": "0" * 16})
    assert (decision.kept, decision.reason) == (kept, reason)


def test_agreement_is_measured_by_criterion():
    """On image a all agree, on image b they differ in whether it is fictional."""
    votes = filter_votes("a", "ufc", "ufc") + filter_votes("b", "fc", "c")
    rows = {row.criterion: row for row in agreement(votes)}
    assert rows["unusual"].unanimous == 1.0
    assert rows["fictional"].unanimous == 0.5
    assert rows["all"].unanimous == 0.5
    assert rows["unusual"].alpha == 1.0


def test_the_last_vote_of_an_annotator_counts(tmp_path):
    first = {"image": "a", "annotator": "x", "fictional": True, "comprehensible": True}
    rows = [
        first | {"unusual": True},
        first | {"unusual": False},
        first | {"annotator": "y", "unusual": True, "seconds": 3, "at": "2026-11-22T16:00:00Z"},
    ]
    (tmp_path / "filter_votes.jsonl").write_text("\n".join(map(json.dumps, rows)))
    votes = read_raw_rows(tmp_path, FilterVote).require()
    assert [(vote.annotator, vote.unusual, vote.seconds) for vote in votes] == [
        ("x", False, None),
        ("y", True, 3.0),
    ]


def test_only_an_image_with_too_few_votes_is_open():
    hashes = {"kept": "0" * 16, "duplicate": "0" * 16, "open": "f" * 16}
    votes = filter_votes("kept", *["ufc"] * 4) + filter_votes("open", *["ufc"] * 3)
    images = gallery_images("kept", "duplicate", "open", "lost")
    decisions = decide_images(images, votes, hashes)
    assert {decision.image: (decision.kept, decision.open) for decision in decisions} == {
        "kept": (True, False),
        "duplicate": (False, False),
        "open": (False, True),
        "lost": (False, False),
    }


def test_the_reason_of_a_duplicate_without_votes_is_the_image_that_it_looks_like():
    images, hashes = gallery_images("kept", "duplicate"), {"kept": "0" * 16, "duplicate": "0" * 16}
    _, duplicate = decide_images(images, filter_votes("kept", *["ufc"] * 4), hashes)
    assert duplicate.reason == "looks like kept"


def written_captions(*texts):
    return [WrittenCaption(image="a", writer=f"w{n}", caption=text) for n, text in enumerate(texts)]


def caption_votes(*n_accepting):
    """Votes of four verifiers on each caption, of which a given number accept it."""
    return [
        CaptionVote(image="a", writer=f"w{writer}", verifier=f"v{verifier}", accepts=verifier < n)
        for writer, n in enumerate(n_accepting)
        for verifier in range(4)
    ]


def test_a_caption_with_fewer_votes_than_configured_is_open():
    captions = written_captions("A cat.")
    (decision,) = verify_captions(captions, caption_votes(4), {"a"}, least_votes=5)
    assert (decision.kept, decision.open) == (False, True)
    assert decision.reason == "4 of 5 needed votes"


def test_the_five_most_accepted_captions_are_kept():
    captions = written_captions(*(f"Caption {n}." for n in range(8)))
    decisions = verify_captions(captions, caption_votes(3, 4, 4, 3, 4, 4, 2, 4), {"a"})
    kept_writers = [decision.writer for decision in decisions if decision.kept]
    assert kept_writers == ["w1", "w2", "w4", "w5", "w7"]
    assert kept_captions(decisions) == {"a": [f"Caption {n}." for n in (1, 2, 4, 5, 7)]}
    reasons = {decision.writer: decision.reason for decision in decisions}
    assert reasons["w0"] == reasons["w3"] == "beyond the best 5"
    assert reasons["w6"] == "2 of 4 verifiers accept it"


@pytest.mark.parametrize(
    ("texts", "votes", "reason"),
    [
        pytest.param(
            ["A cat.", "a  CAT"], caption_votes(4, 4), "an earlier caption says the same", id="same"
        ),
        pytest.param(["A cat.", "  "], caption_votes(4, 4), "empty", id="blank"),
        pytest.param(["A cat.", "A dog."], caption_votes(4), "not verified", id="no votes"),
        pytest.param(
            ["A cat.", "A dog."],
            [*caption_votes(4), CaptionVote(image="a", writer="w1", verifier="w1", accepts=True)],
            "not verified",
            id="a vote for oneself",
        ),
    ],
)
def test_a_caption_is_rejected_with_the_reason(texts, votes, reason):
    decisions = verify_captions(written_captions(*texts), votes, {"a"})
    assert [decision.reason for decision in decisions] == ["kept", reason]


def test_each_step_has_the_undecided_units_of_its_own_task():
    tables = (LOOK_ALIKES, STATEMENTS, CAPTIONS, IMAGES)
    undecided = {
        table.task: UndecidedUnits(open={}, expired=dict.fromkeys("abcd"[:n], ""))
        for n, table in enumerate(tables, 1)
    }
    steps = count_steps([], [], [], [], undecided)
    assert {step.step: step.n_expired for step in steps if step.n_expired} == {
        "look-alikes proposed": 1,
        "statements written": 2,
        "captions written": 3,
        "images of the gallery": 4,
    }
