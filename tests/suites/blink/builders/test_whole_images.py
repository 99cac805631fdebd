import json
from collections import Counter
from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.image_choices import (
    art_style,
    forensic_detection,
    visual_similarity,
)
from bench_assets.suites.blink.builders.whole_images import (
    as_question,
    counting,
    iq_test,
    spatial_relation,
)
from tests.cases import read_cases
from tests.suites.blink.builders.layouts import (
    drafts,
    rejection_reasons,
    write_csv,
    write_forensics,
    write_image,
    write_json,
    write_nights,
    write_puzzles,
    write_text,
    write_vsr,
    write_wikiart,
)


def test_questions_in_fours_share_their_numbers_each_right_once(tmp_path):
    write_image(tmp_path / "1.jpg")
    answers = [3, 5, 1, 2, 0, 2, 4, 3, 9]  # 0 to 3, 2 to 5, and one that is left over
    rows = [
        {"image": "1.jpg", "question": "?", "answer": n, "question_id": nth, "issimple": False}
        for nth, n in enumerate(answers)
    ]
    write_json(tmp_path / "test.json", rows)
    *in_fours, last = [
        draft.show(0, draft.marks).options for draft in drafts(counting(tmp_path, Random(0)))
    ]
    numbers = Counter(frozenset(options) for options in in_fours)
    assert numbers == {frozenset("0123"): 4, frozenset("2345"): 4}
    assert sorted(options[0] for options in in_fours) == [*"01223345"]  # the right ones
    assert last[0] == "9"


def test_the_answer_is_the_letter_in_the_image(tmp_path):
    (draft,) = drafts(iq_test(write_puzzles(tmp_path), Random(0)))
    assert draft.places == (2,)
    assert draft.labels == {"explanation": "It turns."}
    options = draft.show(2, draft.marks).options
    assert options == ("picture A", "picture B", "picture C", "picture D")


@pytest.mark.parametrize(("claim", "question"), read_cases(__file__, "claims.jsonl"))
def test_claims_become_questions(claim, question):
    assert as_question(claim) == question


@pytest.mark.parametrize(("label", "place"), [(1, 0), (0, 1)])
def test_yes_stands_first_and_is_right_for_a_true_claim(tmp_path, label, place):
    votes: dict[str, list[int]] = {"vote_true_validator_id": [], "vote_false_validator_id": []}
    (draft,) = drafts(spatial_relation(write_vsr(tmp_path, label=label, **votes), Random(0)))
    assert draft.places == (place,)
    view = draft.show(place, draft.marks)
    assert view.options == ("yes", "no")
    assert view.wording.question == "Is the cow ahead of the person?"
    assert view.images == ((tmp_path / "images" / "1.jpg").read_bytes(),)


@pytest.mark.parametrize(
    ("votes", "expected_reasons"),
    [
        pytest.param(
            "[2, 67, 21]",
            ["ambiguous: 3 validators saw it otherwise"],
            id="a list that is a text, as published",
        ),
        pytest.param("[]", [], id="nobody, as published"),
    ],
)
def test_opposing_votes_are_counted(tmp_path, votes, expected_reasons):
    source = write_vsr(
        tmp_path, label=1, vote_true_validator_id="[4]", vote_false_validator_id=votes
    )
    assert rejection_reasons(spatial_relation(source, Random(0))) == expected_reasons


def test_published_claims_are_ambiguous_if_they_are_disputed(shared_data, tmp_path):
    """On 300 lines of the authors' file."""
    name = "all_vsr_validated_data.jsonl"
    text = (shared_data / "layouts" / "vsr" / name).read_text(encoding="utf-8")
    write_text(tmp_path / name, text)
    candidates = list(spatial_relation(tmp_path, Random(0)))
    claims = [json.loads(line) for line in text.splitlines()]
    opposing_votes = {0: "vote_true_validator_id", 1: "vote_false_validator_id"}
    disputed = [claim for claim in claims if claim[opposing_votes[claim["label"]]] != "[]"]
    ambiguous = [
        reason for reason in rejection_reasons(candidates) if reason.startswith("ambiguous")
    ]
    assert len(candidates) == len(claims) == 300
    assert len(ambiguous) == len(disputed)


def test_a_claim_that_rules_cannot_turn_is_refused(tmp_path):
    source = write_vsr(tmp_path, caption="Cow ahead")
    assert rejection_reasons(spatial_relation(source, Random(0))) == [
        "the claim has none of the verbs that rules can turn"
    ]


@pytest.mark.parametrize("seed", range(8))
def test_reference_and_right_option_share_a_style_that_the_other_does_not(tmp_path, seed):
    source = write_wikiart(tmp_path, Cubism=5, Pop_Art=5, Realism=5)
    candidates = drafts(art_style(source, Random(seed)))
    assert candidates
    for draft in candidates:
        reference, right, wrong = (file.parent.name for file in draft.originals)
        assert right == reference
        assert wrong != reference


def test_paintings_of_one_style_alone_are_refused(tmp_path):
    with pytest.raises(SourceError, match="expected paintings in folders of two styles or more"):
        list(art_style(write_wikiart(tmp_path, Cubism=6), Random(0)))


@pytest.mark.parametrize(
    ("left_vote", "right_vote", "chosen"),
    [
        pytest.param(1.0, 0.0, "distort/5_0.png", id="people chose the left"),
        pytest.param(0.0, 1.0, "distort/5_1.png", id="people chose the right"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_the_image_people_chose_is_the_right_option(tmp_path, left_vote, right_vote, chosen, place):
    source = write_nights(tmp_path, left_vote=left_vote, right_vote=right_vote)
    (draft,) = drafts(visual_similarity(source, Random(0)))
    reference, *options = draft.show(place, draft.marks).images
    assert reference == (tmp_path / "ref" / "5.png").read_bytes()
    assert options[place] == (tmp_path / chosen).read_bytes()
    assert options[0] != options[1]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"votes": 5}, "only 5 people agreed", id="too few people"),
        pytest.param(
            {"left_vote": 0.6, "right_vote": 0.4}, "people disagree: 0.6 to 0.4", id="divided"
        ),
    ],
)
def test_a_triplet_that_divides_people_is_refused(tmp_path, fields, reason):
    assert rejection_reasons(visual_similarity(write_nights(tmp_path, **fields), Random(0))) == [
        reason
    ]


def test_columns_that_are_missing_are_named(tmp_path):
    write_csv(tmp_path / "data.csv", [{"id": 5, "votes": 7}])
    with pytest.raises(
        SourceError, match=r"data\.csv: no columns .*'right_vote'\]; it has id, votes"
    ):
        list(visual_similarity(tmp_path, Random(0)))


def test_a_column_that_is_twice_in_a_file_is_an_error(tmp_path):
    (tmp_path / "data.csv").write_text("id,votes,votes\n5,7,8\n")
    with pytest.raises(SourceError, match=r"data\.csv: duplicate column 'votes'"):
        list(visual_similarity(tmp_path, Random(0)))


@pytest.mark.parametrize(
    ("place", "ordinal"), [(0, "first"), (1, "second"), (2, "third"), (3, "fourth")]
)
def test_the_photograph_stands_in_its_place_with_its_bytes_unchanged(tmp_path, place, ordinal):
    (draft,) = drafts(forensic_detection(write_forensics(tmp_path), Random(0)))
    view = draft.show(place, draft.marks)
    assert view.images[place] == (tmp_path / "real" / "a.png").read_bytes()
    assert len(set(view.images)) == 4
    assert view.options[place] == f"the {ordinal} image"
