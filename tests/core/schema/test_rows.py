"""What rows say of themselves, by hand."""

from dataclasses import replace

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.schema.published_numbers import Cell, read_claims
from bench_assets.core.schema.rows import Judgement, LeaderboardRow, Metric, Score
from tests.rows import question


@pytest.mark.parametrize(
    ("fields", "cluster"),
    [
        pytest.param({"group_id": "g", "images": ("a",)}, "g", id="its group first"),
        pytest.param({"images": ("a", "b")}, "a b", id="else all its images"),
        pytest.param({}, "t/1", id="else it is one of its own"),
    ],
)
def test_what_a_question_depends_on(fields, cluster):
    assert question(**fields).cluster == cluster


def test_unless_told_otherwise_it_is_of_the_first_draw_and_of_one_point():
    named = {"question_id": "t/1", "model": "m", "condition": "main"}
    score = Score(**named, points=1.0)
    judgement = Judgement(**named, judge="j", criterion="c", verdict=True, response="")
    assert (score.sample, score.max_points, judgement.sample) == (0, 1.0, 0)


def test_a_row_that_is_older_than_the_column_has_the_digest_of_its_signature():
    row = Metric(
        task="t",
        model="m",
        condition="main",
        metric="accuracy",
        category="all",
        value=1.0,
        low=1.0,
        high=1.0,
        n_scored=1,
        n_unscored=0,
        n_failed=0,
        edition="mini",
        signature="t|v1|main|data:d",
    )
    assert (row.questions, replace(row, data="e").questions) == ("d", "e")


@pytest.mark.parametrize(
    ("place", "stale", "shown"),
    [
        ("", "", "here"),
        ("s3", "", "here, of another source (s3)"),
        ("", "the judge is another", "here (stale: the judge is another)"),
    ],
)
def test_a_line_says_why_it_should_not_be_compared(place, stale, shown):
    line = LeaderboardRow(
        task="t",
        edition="mini",
        metric="accuracy",
        model="m",
        source="here",
        value=1.0,
        low=1.0,
        high=1.0,
        n_scored=1,
        n_unscored=0,
        n_failed=0,
        place=place,
        stale=stale,
        signature="",
    )
    assert line.shown_source == shown


CLAIMS = """
but = ["Human"]
[cells.a]
task = "t"
metric = "a"
[[claims]]
name = "mean"
section = "1"
sentence = "It is."
more = ["a", { like = "a", metric = "b", here = "a" }]
less = [{ task = "t", metric = "c" }]
[[claims]]
name = "sum"
section = "2"
sentence = "It is."
but = []
sum = true
less = ["a", "a"]
"""


def test_claims_are_read_with_the_weights_of_a_mean_or_of_a_sum(tmp_path):
    (tmp_path / "claims.toml").write_text(CLAIMS)
    mean, total = read_claims(tmp_path / "claims.toml")
    a = Cell(task="t", metric="a")
    assert [(term.weight, term.cell) for term in mean.terms] == [
        (0.5, a),
        (0.5, replace(a, metric="b", here=a)),
        (-1.0, replace(a, metric="c")),
    ]
    assert [(term.weight, term.cell) for term in total.terms] == [(-1.0, a), (-1.0, a)]
    assert (mean.but, total.but) == (("Human",), ())


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ('less = [{ like = "z" }]', "claim mean: 'z'"),
        ("less = [{ place = 3 }]", "claim mean: .*place"),
        ("less = [", "cannot be read as TOML"),
    ],
)
def test_a_claim_that_cannot_be_read_is_named(tmp_path, now, why):
    text = CLAIMS.replace('less = [{ task = "t", metric = "c" }]', now)
    (tmp_path / "claims.toml").write_text(text)
    with pytest.raises(SourceError, match=rf"claims\.toml.*{why}"):
        read_claims(tmp_path / "claims.toml")
