from collections import Counter
from itertools import pairwise

import pytest

from bench_assets.asset_factory.question_subset import QuestionSubset
from bench_assets.core.schema.errors import UnknownNameError
from tests.fakes.quiz import TASK, quiz


def selected_ids(subset, questions):
    return [question.question_id for question in subset.select(TASK, questions)]


@pytest.mark.parametrize(
    ("limit", "group", "n_selected"),
    [
        pytest.param(10, 1, 10, id="as many as were wanted"),
        pytest.param(10, 3, 9, id="no more than that, in whole groups"),
        pytest.param(2, 3, 3, id="but one group at least"),
        pytest.param(1000, 3, 60, id="all there is"),
    ],
)
def test_a_limit_selects_whole_groups(limit, group, n_selected):
    questions = quiz(60, categories=2, group=group)
    selected = QuestionSubset(limit=limit).select(TASK, questions)
    assert len(selected) == n_selected
    assert set(Counter(question.group_id for question in selected).values()) == {group}
    assert selected == [question for question in questions if question in selected]  # in order


@pytest.mark.parametrize(("smaller", "larger"), pairwise([4, 10, 30, 100]))
def test_a_larger_limit_adds_questions_to_those_of_a_smaller(smaller, larger):
    questions = quiz(100, categories=3, group=2)
    smaller_ids = selected_ids(QuestionSubset(limit=smaller), questions)
    larger_ids = selected_ids(QuestionSubset(limit=larger), questions)
    assert set(smaller_ids) < set(larger_ids)


def test_the_selection_does_not_depend_on_the_order_of_the_questions():
    questions = quiz(100, categories=3, group=2)
    ids = selected_ids(QuestionSubset(limit=10), questions)
    questions.reverse()
    assert selected_ids(QuestionSubset(limit=10), questions) == ids[::-1]


def test_only_named_categories_are_selected():
    questions = quiz(9, categories=3)
    subset = QuestionSubset(categories=("kind 1", "kind 2"))
    assert selected_ids(subset, questions) == [f"quiz/{n}" for n in (1, 2, 4, 5, 7, 8)]
    assert len(selected_ids(QuestionSubset(limit=2, categories=("kind 1",)), questions)) == 2


def test_an_unknown_category_is_refused_with_the_nearest():
    questions_of_tasks = [(TASK, quiz(9, categories=3))]
    with pytest.raises(UnknownNameError, match="did you mean 'kind 1'"):
        QuestionSubset(categories=("kin 1",)).check(questions_of_tasks)
    QuestionSubset(categories=("kind 1",)).check(questions_of_tasks)
