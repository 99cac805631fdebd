import pytest

from bench_assets.report.point_provenance import input_digests
from tests.cases import read_cases

PREDICTION = {
    "text": "x",
    "ranking": [],
    "prompt_sha256": "p",
    "decoding": "one|t=0,max=8",
    "raw_text": "",
    "no_answer": "",
    "error": "",
}
SCORED = {"points": 1.0, "max_points": 1.0, "scorer": "exact"}
JUDGED = {"judge": "gpt", "criterion": "right", "verdict": True, "value": ""}


def columns(defaults, changes):
    """A table of one row for each sample of question ``q``: the defaults, but for its changes."""
    rows = [
        {"question_id": "q", "sample": sample, **defaults, **changed}
        for sample, changed in enumerate(changes)
    ]
    return {name: [row[name] for row in rows] for name in ("question_id", "sample", *defaults)}


def digests(predictions=({},), scored=({},), judged=()):
    """The digest of each input of question ``q``, whose rows are changed as given."""
    judgements = columns(JUDGED, judged) if judged else None
    encoded = input_digests(
        ["q"], columns(PREDICTION, predictions), columns(SCORED, scored), judgements
    )
    return {name: column["values"][column["codes"][0]] for name, column in encoded.items()}


@pytest.mark.parametrize(("changes", "inputs"), read_cases(__file__, "differences.jsonl"))
def test_only_digests_of_changed_inputs_differ(changes, inputs):
    before, after = digests(), digests(**changes)
    assert {name for name in before if before[name] != after[name]} == set(inputs)


def test_failures_have_equal_digests_whatever_their_message():
    timed_out = digests(predictions=[{"error": "timed out"}])
    refused = digests(predictions=[{"error": "refused"}])
    assert timed_out == refused
