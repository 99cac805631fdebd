"""What the points of questions come from: digests that are equal where, and only where, it is."""

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


def table(defaults, *rows):
    """Columns of rows, which are (question, sample, what is otherwise)."""
    whole = [{"question_id": name, "sample": n, **defaults, **more} for name, n, more in rows]
    names = ("question_id", "sample", *defaults)
    return {name: [row[name] for row in whole] for name in names}


def of(predictions=({},), scored=({},), judged=None):
    """What is written of question ``q``, several draws of it where several are given."""
    tables = [
        table(defaults, *(("q", n, more) for n, more in enumerate(rows)))
        for defaults, rows in ((PREDICTION, predictions), (SCORED, scored), (JUDGED, judged or ()))
    ]
    found = input_digests(["q"], tables[0], tables[1], tables[2] if judged else None)
    return {name: column["values"][column["codes"][0]] for name, column in found.items()}


@pytest.mark.parametrize(("other", "differs"), read_cases(__file__, "differences.jsonl"))
def test_only_what_differs_is_shown(other, differs):
    plain, changed = of(), of(**other)
    assert {name for name in plain if plain[name] != changed[name]} == {*differs}


def test_failures_are_alike_whatever_they_say():
    timed_out, refused = (of(predictions=[{"error": why}]) for why in ("timed out", "refused"))
    assert timed_out == refused
