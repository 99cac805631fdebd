from dataclasses import replace
from math import nan

from bench_assets.core.images.charts import line_ends
from bench_assets.core.schema.metric_text import (
    caveats,
    format_caveats,
    format_interval,
    format_value,
    is_hidden,
    unread_bounds,
)
from tests.fakes.rows import metric

READ = metric("m", 0.625, low=0.306, high=0.863)
UNREAD = replace(READ, unread=0.2, if_unread_wrong=0.5, if_unread_right=0.7)


def test_a_metric_with_many_unread_responses_is_shown_by_its_bounds():
    assert format_value(UNREAD) == "0.500 to 0.700"
    assert format_interval(UNREAD) == ""
    assert line_ends(UNREAD) == (0.5, 0.7)


def test_a_metric_without_scored_responses_is_shown_by_the_bounds_of_the_unread_ones():
    assert unread_bounds(replace(UNREAD, value=nan)) == (0.5, 0.7)


def test_a_metric_without_unread_responses_is_shown_with_its_interval():
    assert unread_bounds(READ) is None
    assert format_value(READ) == "0.625"
    assert format_interval(READ) == "0.306 to 0.863"
    assert line_ends(READ) == (0.306, 0.863)


def test_a_tenth_of_the_responses_may_be_unread():
    assert not is_hidden(replace(UNREAD, unread=0.1))
    assert is_hidden(replace(UNREAD, unread=1 / 9))


def test_caveats_name_each_count_and_share_above_0():
    row = metric("m", 0.5, n_failed=2, n_no_answer=0, asked_again=0.1, named=0.025)
    assert caveats(row) == ["2 without response", "10.0 % asked again", "2.5 % only named"]


def test_unread_responses_are_a_caveat_with_the_bounds_unless_these_replace_the_value():
    few_unread = replace(UNREAD, unread=0.05, n_refused=1)
    assert format_caveats(few_unread) == " (1 refused) (5.0 % (0.500 to 0.700) unread)"
    assert format_caveats(UNREAD) == " (20.0 % unread)"
