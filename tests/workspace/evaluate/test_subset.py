"""A part of the questions: whole groups, categories in their shares, the same every time."""

from collections import Counter
from itertools import pairwise

import pytest

from bench_assets.asset_factory.question_subset import QuestionSubset
from bench_assets.core.schema.errors import UnknownNameError
from tests.fakes.quiz import TASK, quiz


def drawn(part, questions):
    return [question.question_id for question in part.select(TASK, questions)]


@pytest.mark.parametrize(
    ("limit", "group", "n"),
    [
        pytest.param(10, 1, 10, id="as many as were wanted"),
        pytest.param(10, 3, 9, id="no more than that, in whole groups"),
        pytest.param(2, 3, 3, id="but one group at least"),
        pytest.param(1000, 3, 60, id="all there is"),
    ],
)
def test_a_limit_selects_whole_groups(limit, group, n):
    questions = quiz(60, categories=2, group=group)
    found = QuestionSubset(limit=limit).select(TASK, questions)
    assert len(found) == n
    assert set(Counter(question.group_id for question in found).values()) == {group}
    assert found == [question for question in questions if question in found]


def test_a_larger_part_has_the_smaller_in_it_and_other_questions_change_nothing():
    questions = quiz(100, categories=3, group=2)
    parts = [set(drawn(QuestionSubset(limit=limit), questions)) for limit in (4, 10, 30, 100)]
    assert all(small < large for small, large in pairwise(parts))
    assert (
        drawn(QuestionSubset(limit=10), questions[::-1])
        == drawn(QuestionSubset(limit=10), questions)[::-1]
    )


def test_only_named_categories_are_selected():
    questions = quiz(9, categories=3)
    part = QuestionSubset(categories=("kind 1", "kind 2"))
    assert drawn(part, questions) == [f"quiz/{n}" for n in (1, 2, 4, 5, 7, 8)]
    assert len(drawn(QuestionSubset(limit=2, categories=("kind 1",)), questions)) == 2


def test_a_category_that_is_none_is_named_with_the_nearest():
    part = QuestionSubset(categories=("kin 1",))
    part_of = [(TASK, quiz(9, categories=3))]
    with pytest.raises(UnknownNameError, match="did you mean 'kind 1'"):
        part.check(part_of)
    QuestionSubset(categories=("kind 1",)).check(part_of)
