"""What the points of questions come from: digests that are equal where, and only where, it is."""

import pytest

from bench_assets.report.point_provenance import input_digests

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


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        pytest.param({"predictions": [{"text": "y"}]}, {"response"}, id="another response"),
        pytest.param({"predictions": [{"ranking": ["a"]}]}, {"response"}, id="another ranking"),
        pytest.param({"predictions": [{"prompt_sha256": "q"}]}, {"prompt"}, id="another prompt"),
        pytest.param({"predictions": [{"decoding": "two|t=0,max=8"}]}, {"who"}, id="another model"),
        pytest.param({"predictions": [{"decoding": "one|t=0,max=9"}]}, {"how"}, id="more tokens"),
        pytest.param({"predictions": [{"raw_text": "hm</think>x"}]}, {"raw"}, id="it thought"),
        pytest.param({"predictions": [{"no_answer": "none in 8"}]}, {"cut"}, id="cut off"),
        pytest.param({"predictions": [{"error": "timed out"}]}, {"failed"}, id="no response"),
        pytest.param({"scored": [{"points": 0.0}]}, {"points"}, id="other points"),
        pytest.param({"scored": [{"points": None}]}, {"points"}, id="unscored"),
        pytest.param({"scored": [{"max_points": 2.0}]}, {"points"}, id="more to gain"),
        pytest.param({"scored": [{"scorer": "strict"}]}, {"scorers"}, id="another scorer"),
        pytest.param({"judged": [{}]}, {"judges", "verdicts"}, id="judged at all"),
        pytest.param(
            {"predictions": [{}, {}], "scored": [{}]}, {"response", "prompt"}, id="drawn twice"
        ),
    ],
)  # fmt: skip
def test_only_what_differs_is_shown(other, differs):
    plain, changed = of(), of(**other)
    assert {name for name in plain if plain[name] != changed[name]} == differs


def test_failures_are_alike_whatever_they_say():
    timed_out, refused = (of(predictions=[{"error": why}]) for why in ("timed out", "refused"))
    assert timed_out == refused
