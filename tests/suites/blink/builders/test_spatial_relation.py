import json
from random import Random

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.suites.blink.builders.spatial_relation import as_question, build
from tests.suites.blink.builders.layouts import drafts, image, reasons, write, write_lines


def vsr(folder, **fields):
    image(folder / "images" / "1.jpg")
    entry = {
        "image": "1.jpg",
        "caption": "The cow is ahead of the person.",
        "label": 0,
        "vote_true_validator_id": [],
        "vote_false_validator_id": [2, 6],
    } | fields
    write_lines(folder / "all_vsr_validated_data.jsonl", [entry])
    return folder


@pytest.mark.parametrize(
    ("claim", "question"),
    [
        pytest.param(
            "The cow is ahead of the person.", "Is the cow ahead of the person?", id="appendix A.2"
        ),
        pytest.param("The books are on the desk.", "Are the books on the desk?", id="plural"),
        pytest.param(
            "The bowl contains the apple.", "Does the bowl contain the apple?", id="contains"
        ),
        pytest.param(
            "The train has as a part the bus.",
            "Does the train have as a part the bus?",
            id="has as a part",
        ),
        pytest.param(
            "The dog  is in front of the cat", "Is the dog in front of the cat?",
            id="two blanks and no full stop",
        ),
        pytest.param("Cow ahead", None, id="no verb"),
        pytest.param("", None, id="nothing"),
    ],
)  # fmt: skip
def test_claims_become_questions(claim, question):
    assert as_question(claim) == question


@pytest.mark.parametrize(("label", "place"), [(1, 0), (0, 1)])
def test_yes_stands_first_and_is_right_for_a_true_claim(tmp_path, label, place):
    votes = {"vote_true_validator_id": [], "vote_false_validator_id": []}
    (draft,) = drafts(build(vsr(tmp_path, label=label, **votes), Random(0)))
    assert draft.places == (place,)
    shown = draft.show(place, draft.marks)
    assert shown.options == ("yes", "no")
    assert shown.asked.question == "Is the cow ahead of the person?"
    assert shown.images == ((tmp_path / "images" / "1.jpg").read_bytes(),)


@pytest.mark.parametrize(
    ("votes", "n"),
    [
        pytest.param("[2, 67, 21]", 3, id="a list that is a text, as published"),
        pytest.param([2, 67, 21], 3, id="a list"),
        pytest.param("[]", 0, id="nobody, as published"),
        pytest.param([], 0, id="nobody"),
    ],
)
def test_votes_are_counted_in_both_forms(tmp_path, votes, n):
    source = vsr(tmp_path, label=1, vote_true_validator_id="[4]", vote_false_validator_id=votes)
    expected = [f"ambiguous: {n} validators saw it otherwise"] if n else []
    assert reasons(build(source, Random(0))) == expected


def test_the_published_file_goes_through(shared_data, tmp_path):
    """300 lines of the authors' file, of which nobody's generator knows."""
    name = "all_vsr_validated_data.jsonl"
    lines = (shared_data / "layouts" / "vsr" / name).read_text(encoding="utf-8")
    write(tmp_path / name, lines)
    made = list(build(tmp_path, Random(0)))
    entries = [json.loads(line) for line in lines.splitlines()]
    disputed = [
        entry
        for entry in entries
        if entry["vote_false_validator_id" if entry["label"] else "vote_true_validator_id"] != "[]"
    ]
    refused = reasons(iter(made))
    assert len(made) == len(entries) == 300
    assert sum(reason.startswith("ambiguous") for reason in refused) == len(disputed)
    assert len(drafts(iter(made))) > 0.6 * len(made)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param(
            {"vote_true_validator_id": [3]}, "ambiguous: 1 validators saw it otherwise", id="vote"
        ),
        pytest.param(
            {"caption": "Cow ahead"},
            "the claim has none of the verbs that rules can turn",
            id="verb",
        ),
    ],
)
def test_what_is_ambiguous_is_refused(tmp_path, fields, reason):
    assert reasons(build(vsr(tmp_path, **fields), Random(0))) == [reason]


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        pytest.param({"label": 2}, "line 1: field 'label' is 2, expected 0 or 1", id="label"),
        pytest.param(
            {"vote_true_validator_id": "[2, x]"},
            "line 1: field 'vote_true_validator_id' is '\\[2, x\\]', expected a list of numbers",
            id="votes",
        ),
        pytest.param({"caption": 5}, "line 1: field 'caption' is 5, expected a text", id="caption"),
        pytest.param({"image": "../1.jpg"}, "line 1: image '../1.jpg' does not lie", id="image"),
    ],
)
def test_an_entry_of_another_form_is_named(tmp_path, fields, complaint):
    with pytest.raises(SourceError, match=complaint):
        list(build(vsr(tmp_path, **fields), Random(0)))
