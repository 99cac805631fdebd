"""Beside a judged number stands what the judge has said already; nobody is asked for it."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from bench_assets.asset_factory.question_subset import QuestionSubset
from bench_assets.core.schema.errors import UnknownNameError
from bench_assets.workspace.evaluate.subset import evaluate_suite_subsets
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.chat_server import ChatServer
from tests.fakes.codis_source import entry, write_release
from tests.fakes.quiz import TASK, quiz

MODELS = """
[suites.codis]
judge = "judge"
[sources]
codis = "../codis"
"""
MODEL = '[models.{name}]\nkind = "server"\nbase_url = "{url}"\nmodel = "{name}"\n'


def response(body):
    """One model says one thing, one another word each time; right is the former."""
    sent = json.dumps(body["messages"])
    if body["model"] == "judge":
        return "right" if "Rolling" in sent else "wrong"
    return "Rolling." if body["model"] == "constant" else f"Word {len(sent)}."


@pytest.fixture
def server():
    with ChatServer(response) as server:
        yield server


@pytest.fixture
def bench(tmp_path, server):
    write_release(
        tmp_path / "codis",
        [
            entry(),
            entry(id="001", question="Open or shut?"),
            entry(id="002", question="What is it doing now?"),
        ],
    )
    (home := tmp_path / "home").mkdir()
    named = (MODEL.format(name=one, url=server.base_url) for one in ("judge", "constant", "m"))
    (home / "bench.toml").write_text(MODELS + "".join(named))
    with Workbench(load_settings(home), ["codis"]) as opened:
        opened.refresh_questions("codis")
        yield opened


def number(rows):
    return next(row for row in rows if (row.metric, row.category) == ("acc_q", "all"))


def test_another_models_judged_response_is_the_constant_of_the_whole_and_of_a_part(bench, server):
    bench.evaluate(["codis"], "constant")
    one = number(bench.metrics("codis", "constant"))
    assert (one.value, one.constant, one.shuffled) == (1.0, 1.0, 1.0)
    assert one.baselines == "constant: best of 1 that the judge had judged on all questions"

    bench.evaluate(["codis"], "m")
    server.forget()
    found = number(bench.metrics("codis", "m"))
    assert (found.value, found.constant, found.shuffled) == (0.0, 1.0, None)
    assert "no shuffled: " in found.baselines
    arguments = (bench, ["codis"], [("m", "main")], QuestionSubset(limit=2))
    ((_, (part,), _),) = evaluate_suite_subsets(*arguments)
    assert (number(part.metrics).constant, number(part.metrics).n_scored) == (1.0, 2)
    assert server.n_requests == 0


# A part of the questions: whole groups, categories in their shares, the same every time.


def drawn(part, questions):
    return [question.question_id for question in part.of(TASK, questions)]


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
    found = QuestionSubset(limit=limit).of(TASK, questions)
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
