"""What rows say of themselves, by hand."""

from dataclasses import replace

import pytest

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
