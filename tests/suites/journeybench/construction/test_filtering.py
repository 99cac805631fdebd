"""Queries, votes on images, near-duplicates, and captions with their verifiers."""

import json

import pytest

from bench_assets.suites.journeybench.construction.filtering import (
    agreement,
    decide_images,
    kept_captions,
    verify_captions,
)
from bench_assets.suites.journeybench.raw_material import (
    CaptionVote,
    FilterVote,
    GalleryImage,
    WrittenCaption,
    read_raw_rows,
)


def shown(*names):
    return [GalleryImage(image=name, query="giant animal", prompt="a cat") for name in names]


def votes(image, *words):
    """One vote for each text: "ufc" passes all three criteria, a missing letter fails one."""
    return [
        FilterVote(
            image=image,
            annotator=f"a{number}",
            unusual="u" in word,
            fictional="f" in word,
            comprehensible="c" in word,
        )
        for number, word in enumerate(words)
    ]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        pytest.param(["ufc", "ufc", "ufc", "fc"], "passes every criterion", id="three of four"),
        pytest.param(["ufc", "ufc", "uc", "uc"], "not fictional: 2 of 4", id="half"),
        pytest.param(["ufc"] * 3, "3 votes, 4 are needed", id="three annotators"),
    ],
)
def test_votes_decide(words, reason):
    (decision,) = decide_images(shown("a"), votes("a", *words), {"a": "0" * 16})
    assert decision.reason == reason
    assert decision.kept == (reason == "passes every criterion")


def test_agreement_is_measured_by_criterion():
    rows = {
        row.criterion: row for row in agreement(votes("a", "ufc", "ufc") + votes("b", "fc", "c"))
    }
    assert rows["unusual"].unanimous == 1.0
    assert rows["fictional"].unanimous == 0.5
    assert rows["all"].unanimous == 0.5
    assert rows["unusual"].alpha == 1.0
    assert agreement([]) == []


def test_the_last_word_of_an_annotator_counts(tmp_path):
    first = {"image": "a", "annotator": "x", "fictional": True, "comprehensible": True}
    lines = [first | {"unusual": unusual} for unusual in (True, False)] + [
        first | {"annotator": "y", "unusual": True, "seconds": 3, "at": "2026-11-22T16:00:00Z"}
    ]
    (tmp_path / "filter_votes.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert [
        (vote.annotator, vote.unusual, vote.seconds)
        for vote in read_raw_rows(tmp_path, FilterVote).require()
    ] == [
        ("x", False, None),
        ("y", True, 3.0),
    ]


def test_a_image_with_too_few_votes_is_open_and_one_that_is_there_twice_is_not():
    hashes = {"a": "0" * 16, "b": "0" * 16, "c": "f" * 16, "d": "0f" * 8}
    cast = votes("a", *["ufc"] * 4) + votes("c", *["ufc"] * 3)
    decisions = decide_images(shown("a", "b", "c", "lost"), cast, hashes)
    assert [(decision.kept, decision.open) for decision in decisions] == [
        (True, False),
        (False, False),
        (False, True),
        (False, False),
    ]


def test_a_caption_waits_for_as_many_verifiers_as_are_set():
    (decision,) = verify_captions(written("A cat."), accepted(1), {"a"}, least_votes=5)
    assert (decision.kept, decision.open, decision.reason) == (
        False,
        True,
        "4 votes, 5 are needed",
    )


def written(*texts):
    return [WrittenCaption(image="a", writer=f"w{n}", caption=text) for n, text in enumerate(texts)]


def accepted(n_captions, n_accepting=4, **but):
    """Four verifiers a caption; ``but`` gives the number that accepts the caption of a writer."""
    return [
        CaptionVote(
            image="a", writer=f"w{n}", verifier=f"v{v}", accepts=v < but.get(f"w{n}", n_accepting)
        )
        for n in range(n_captions)
        for v in range(4)
    ]


def reasons(captions, cast):
    return [decision.reason for decision in verify_captions(captions, cast, {"a"})]


def test_five_captions_are_kept_the_most_accepted_first():
    captions = written(*(f"Caption {n}." for n in range(8)))
    decisions = verify_captions(captions, accepted(8, w0=3, w3=3, w6=2), {"a"})
    assert [decision.writer for decision in decisions if decision.kept] == [
        "w1",
        "w2",
        "w4",
        "w5",
        "w7",
    ]
    assert kept_captions(decisions) == {"a": [f"Caption {n}." for n in (1, 2, 4, 5, 7)]}
    assert decisions[6].reason == "2 of 4 verifiers accept it"
    assert decisions[0].reason == "beyond the best 5"


@pytest.mark.parametrize(
    ("texts", "cast", "reason"),
    [
        pytest.param(
            ["A cat.", "a  CAT"], accepted(2), "an earlier caption says the same", id="same"
        ),
        pytest.param(["A cat.", "  "], accepted(2), "empty", id="blank"),
        pytest.param(["A cat.", "A dog."], accepted(1), "not verified", id="no votes"),
        pytest.param(
            ["A cat.", "A dog."],
            [
                *accepted(1),
                CaptionVote(image="a", writer="w1", verifier="w1", accepts=True),
            ],
            "not verified",
            id="a vote for oneself",
        ),
    ],
)
def test_a_caption_that_is_not_kept_says_why(texts, cast, reason):
    assert reasons(written(*texts), cast) == ["kept", reason]
