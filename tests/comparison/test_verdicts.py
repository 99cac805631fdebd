"""Verdicts on two models: unscored responses by pencil; the report's page, run by Node, agrees."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bench_assets.comparison.comparable import Side, compare_sides, compared_parts
from bench_assets.comparison.measurements import ConditionQuestions
from bench_assets.comparison.verdicts import compare_scores, decide, verdict_sentence
from bench_assets.core.metrics.aggregates import group_accuracy
from bench_assets.core.schema.rows import Question, Score
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Task
from bench_assets.report.pages.comparison import _metric_units
from tests.fakes.measures import both_halves, macro, squared
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import question
from tests.report.static.node import NO_NODE, NODE, run_module

PAIRS = [
    question(question_id=f"t/{pair}/{half}", group_id=f"pair {pair}")
    for pair in range(4)
    for half in (0, 1)
]


def pair_scores(model, *points):
    return [
        Score(question_id=query.question_id, model=model, condition="main", points=value)
        for query, value in zip(PAIRS, points, strict=True)
    ]


def test_a_pair_with_an_unscored_half_is_unscored_in_both_as_in_the_metric():
    """Of pairs 0 to 2 both have two right; of pair 3, one half would have been right alone."""
    task = replace(TASK, measures={"group_accuracy": group_accuracy}, slices=lambda _: ())
    old = pair_scores("old", 1, 1, 1, 1, 1, 0, 1, None)
    new = pair_scores("new", 1, 1, 1, 0, 1, 1, 0, 0)
    (found,) = compare_scores(task, PAIRS, old, new)
    assert (found.before, found.after, found.n) == (2 / 3, 2 / 3, 3)


needs_node = pytest.mark.skipif(not NODE, reason=NO_NODE)

PAGE = """
import { decide, difference, sentence } from "APP/compare/differences.js";
const shown = (row) => ({ ...row, low: 0, high: 1 });
const found = input.map(({ title, a, b, shares = [{}, {}] }) => ({
  title, found: difference(a, b, [a, b].map((side, i) => ({ ...shown(side), ...shares[i] }))),
}));
decide(found.map((row) => row.found));
output = { found, sentence: sentence(found) };
"""


class PageQuestions(ConditionQuestions):
    """The questions of a condition, as the page reads them, without a table."""

    def __init__(self, questions: Sequence[Question]) -> None:
        vars(self).update(questions=questions, data="d")


def scores(questions, points, model):
    return [
        Score(question_id=q.question_id, model=model, condition="main", points=float(p))
        for q, p in zip(questions, points, strict=True)
    ]


def task(title: str, measure) -> Task:
    return replace(TASK, title=title, measures={"metric": measure}, slices=lambda _: ())


QUESTIONS = quiz(60, group=2, categories=3)
UNEVEN = [
    replace(q, group_id="one" if n < 30 else f"{n}", images=()) for n, q in enumerate(quiz(60))
]
CASES = [
    (task("a", TASK.measures["accuracy"]), QUESTIONS, 0.4, 0.9),
    (task("b", both_halves), QUESTIONS, 0.8, 0.2),
    (task("c", macro), QUESTIONS, 0.5, 0.5),
    (task("d", squared), QUESTIONS, 0.5, 0.6),
    (task("e", TASK.measures["accuracy"]), UNEVEN, 0.5, 0.7),
    (replace(task("f", TASK.measures["accuracy"]), lower_is_better=frozenset({"metric"})),
     QUESTIONS, 0.9, 0.3),
]  # fmt: skip


def on_page(rows):
    return run_module(PAGE, rows)


@needs_node
@pytest.mark.parametrize("seed", range(3))
def test_terminal_and_pages_say_the_same_sentence(seed):
    rng, effects, rows = np.random.default_rng(seed), [], []
    for one, questions, low, high in CASES:
        sides = [
            scores(questions, rng.random(len(questions)) < chance, model)
            for model, chance in (("old", low), ("new", high))
        ]
        effects += compare_scores(one, questions, *sides)
        page_questions = PageQuestions(questions)
        a, b = ({**_metric_units(one, page_questions, side), "compared": {}} for side in sides)
        rows.append({"title": one.title, "a": a, "b": b})
    lines = decide(effects)
    shown = on_page(rows)
    for line, row in zip(lines, shown["found"], strict=True):
        found = row["found"]
        assert (found["verdict"], found["n"]) == (line.verdict, line.n)
        assert found["change"] == pytest.approx(line.change, abs=1e-5)
        assert found["p"] == pytest.approx(line.p, rel=1e-3, abs=1e-9)
        ends = (found["low"], found["high"])
        assert ends == pytest.approx((line.low, line.high), abs=1e-4)
    assert {line.verdict for line in lines} == {"better", "worse", "undecided"}
    assert shown["sentence"].replace("\N{MINUS SIGN}", "-") == verdict_sentence(lines)


SIGNATURE = "t|v1|main|data:d|prompts:p|model:m|t=0|judge:{}|scorer:r|n:60"


@needs_node
def test_terminal_and_pages_give_the_same_reasons_for_no_verdict():
    """One task by another judge, one of which half is unread, and one with few unread."""
    effects, rows = [], []
    for title, judge, n_unread in (("a", "gpt", 0), ("b", "rules", 60), ("c", "rules", 3)):
        one = task(title, TASK.measures["accuracy"])
        sides = [
            scores(QUESTIONS, [n < n_right for n in range(60)], model)
            for model, n_right in (("old", 10), ("new", 50))
        ]
        shares: list[dict[str, Any]] = [
            {"model": "old", "unread": n_unread / 60, "if_unread_wrong": 10 / 60,
             "if_unread_right": (10 + n_unread * 5 / 6) / 60},
            {"model": "new", "unread": 0.0, "if_unread_wrong": None, "if_unread_right": None},
        ]  # fmt: skip
        metrics = [
            [
                replace(row, **of, signature=SIGNATURE.format(named))
                for row in pipeline.summarise(one, QUESTIONS, [], side)
            ]
            for side, of, named in zip(sides, shares, ("rules", judge), strict=True)
        ]
        effects += compare_sides(one, QUESTIONS, *map(Side, sides, metrics), slices=False)
        pages = [
            {
                **_metric_units(one, PageQuestions(QUESTIONS), side),
                "compared": compared_parts(of[0]),
            }
            for side, of in zip(sides, metrics, strict=True)
        ]
        rows.append({"title": title, "task": "t", "a": pages[0], "b": pages[1], "shares": shares})
    shown = on_page(rows)
    lines = decide(effects)
    assert [line.verdict for line in lines] == ["not comparable", "undecided", "better"]
    assert [row["found"]["verdict"] for row in shown["found"]] == [one.verdict for one in lines]
    sentence = verdict_sentence(lines)
    assert shown["sentence"].replace("\N{MINUS SIGN}", "-") == sentence
    assert sentence.endswith(
        "; undecided on 1 of 2 tasks (b: 100.0 % of the responses of old are unread);"
        " not comparable at a: other judge"
    )
    twice = verdict_sentence(decide([effects[1], effects[1]]))
    assert twice == "undecided on 2 of 2 tasks (too much is unread on 2 of them)"
    assert on_page([rows[1], rows[1]])["sentence"] == twice


@needs_node
@pytest.mark.parametrize("measure", [group_accuracy, TASK.measures["accuracy"]])
def test_terminal_and_pages_leave_out_the_same_unscored_units(measure):
    rng, one = np.random.default_rng(5), task("a", measure)
    sides = [
        [
            replace(row, points=None if n in unscored else row.points)
            for n, row in enumerate(scores(QUESTIONS, rng.random(60) < chance, model))
        ]
        for model, chance, unscored in (("old", 0.4, {3, 8}), ("new", 0.8, {9, 20}))
    ]
    (line,) = compare_scores(one, QUESTIONS, *sides)
    page_questions = PageQuestions(QUESTIONS)
    a, b = ({**_metric_units(one, page_questions, side), "compared": {}} for side in sides)
    (found,) = (row["found"] for row in on_page([{"title": "a", "a": a, "b": b}])["found"])
    # Of 30 pairs those of 3, of 8 and 9, and of 20 are left out; of 60 questions, these four.
    assert found["n"] == line.n == {group_accuracy: 27}.get(measure, 56)
    assert found["change"] == pytest.approx(line.change, abs=1e-5)
