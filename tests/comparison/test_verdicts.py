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
from bench_assets.core.schema.rows import Question
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.task import Task
from bench_assets.report.pages.comparison import _metric_units
from tests.comparison.sides import build_scores
from tests.fakes.measures import both_halves, macro, squared
from tests.fakes.quiz import TASK, quiz
from tests.fakes.rows import question
from tests.report.static.node import NO_NODE, NODE, run_module

PAIRS = [
    question(question_id=f"t/{pair}/{half}", group_id=f"pair {pair}")
    for pair in range(4)
    for half in (0, 1)
]


def test_a_pair_with_an_unscored_half_is_unscored_in_both_as_in_the_metric():
    """Both models have two of pairs 0 to 2 right; pair 3 has an unscored half in the old one."""
    task = replace(TASK, measures={"group_accuracy": group_accuracy}, slices=lambda _: ())
    old = build_scores(PAIRS, [1, 1, 1, 1, 1, 0, 1, None], "old")
    new = build_scores(PAIRS, [1, 1, 1, 0, 1, 1, 0, 0], "new")
    (row,) = compare_scores(task, PAIRS, old, new)
    assert (row.before, row.after, row.n) == (2 / 3, 2 / 3, 3)


needs_node = pytest.mark.skipif(not NODE, reason=NO_NODE)

PAGE = """
import { decide, difference, sentence } from "APP/compare/differences.js";
const withInterval = (side, shares) => ({ ...side, low: 0, high: 1, ...shares });
const rows = input.map(({ title, before, after, shares = [{}, {}] }) => ({
  title,
  found: difference(before, after, [
    withInterval(before, shares[0]), withInterval(after, shares[1]),
  ]),
}));
decide(rows.map((row) => row.found));
output = { differences: rows.map((row) => row.found), sentence: sentence(rows) };
"""


class PageQuestions(ConditionQuestions):
    """The questions of a condition as the page has them, without a table."""

    def __init__(self, questions: Sequence[Question]) -> None:
        vars(self).update(questions=questions, data="d")


def build_task(title: str, measure) -> Task:
    return replace(TASK, title=title, measures={"metric": measure}, slices=lambda _: ())


def page_side(task, questions, scores):
    """What the page has of a model's scores."""
    return {**_metric_units(task, PageQuestions(questions), scores), "compared": {}}


def compare_on_page(rows):
    """The page's differences, and its sentence with the terminal's minus signs."""
    page = run_module(PAGE, rows)
    return page["differences"], page["sentence"].replace("\N{MINUS SIGN}", "-")


QUESTIONS = quiz(60, group=2, categories=3)
UNEVEN = [  # the first half is one group
    replace(q, group_id="one" if n < 30 else f"{n}", images=()) for n, q in enumerate(quiz(60))
]
ACCURACY = build_task("a", TASK.measures["accuracy"])
ERROR_RATE = replace(ACCURACY, title="f", lower_is_better=frozenset({"metric"}))
COMPARISONS = [  # task, questions, and the chance of a right response before and after
    (ACCURACY, QUESTIONS, 0.4, 0.9),
    (build_task("b", both_halves), QUESTIONS, 0.8, 0.2),
    (build_task("c", macro), QUESTIONS, 0.5, 0.5),
    (build_task("d", squared), QUESTIONS, 0.5, 0.6),
    (replace(ACCURACY, title="e"), UNEVEN, 0.5, 0.7),
    (ERROR_RATE, QUESTIONS, 0.9, 0.3),
]


@needs_node
@pytest.mark.parametrize("seed", range(3))
def test_terminal_and_pages_say_the_same_sentence(seed):
    rng, effects, rows = np.random.default_rng(seed), [], []
    for task, questions, chance_before, chance_after in COMPARISONS:
        old = build_scores(questions, rng.random(len(questions)) < chance_before, "old")
        new = build_scores(questions, rng.random(len(questions)) < chance_after, "new")
        effects += compare_scores(task, questions, old, new)
        before, after = page_side(task, questions, old), page_side(task, questions, new)
        rows.append({"title": task.title, "before": before, "after": after})

    comparisons = decide(effects)
    differences, sentence = compare_on_page(rows)

    for comparison, difference in zip(comparisons, differences, strict=True):
        assert (difference["verdict"], difference["n"]) == (comparison.verdict, comparison.n)
        assert difference["change"] == pytest.approx(comparison.change, abs=1e-5)
        assert difference["p"] == pytest.approx(comparison.p, rel=1e-3, abs=1e-9)
        assert difference["low"] == pytest.approx(comparison.low, abs=1e-4)
        assert difference["high"] == pytest.approx(comparison.high, abs=1e-4)
    assert {row.verdict for row in comparisons} == {"better", "worse", "undecided"}
    assert sentence == verdict_sentence(comparisons)


SIGNATURE = "t|v1|main|data:d|prompts:p|model:m|t=0|judge:{}|scorer:r|n:60"


def signed_metrics(task, scores, judge, shares):
    """Metrics of scores, with these shares of unread responses, signed as of this judge."""
    metrics = pipeline.summarise(task, QUESTIONS, predictions=[], scores=scores)
    return [replace(row, **shares, signature=SIGNATURE.format(judge)) for row in metrics]


def compare_with_unread(title, judge, n_unread):
    """The effects of 10 and then 50 right of 60, and the row of the page.

    Of the responses before, read by rules, some are unread; ``judge`` judged those after.
    """
    task = replace(ACCURACY, title=title)
    old = build_scores(QUESTIONS, [n < 10 for n in range(60)], "old")
    new = build_scores(QUESTIONS, [n < 50 for n in range(60)], "new")
    shares: list[dict[str, Any]] = [
        {"model": "old", "unread": n_unread / 60, "if_unread_wrong": 10 / 60,
         "if_unread_right": (10 + n_unread * 5 / 6) / 60},
        {"model": "new", "unread": 0.0, "if_unread_wrong": None, "if_unread_right": None},
    ]  # fmt: skip
    before = Side(old, signed_metrics(task, old, "rules", shares[0]))
    after = Side(new, signed_metrics(task, new, judge, shares[1]))
    page_before, page_after = (
        page_side(task, QUESTIONS, side.scores) | {"compared": compared_parts(side.metrics[0])}
        for side in (before, after)
    )
    row = {"title": title, "task": "t", "before": page_before, "after": page_after}
    effects = compare_sides(task, QUESTIONS, before, after, slices=False)
    return effects, row | {"shares": shares}


ANOTHER_JUDGE = ("a", "gpt", 0)
ALL_UNREAD = ("b", "rules", 60)
FEW_UNREAD = ("c", "rules", 3)


@needs_node
@pytest.mark.parametrize(
    ("cases", "verdicts", "reasons"),
    [
        pytest.param(
            [ANOTHER_JUDGE, ALL_UNREAD, FEW_UNREAD],
            ["not comparable", "undecided", "better"],
            "; undecided on 1 of 2 tasks (b: 100.0 % of the responses of old are unread);"
            " not comparable at a: other judge",
            id="one task for each reason",
        ),
        pytest.param(
            [ALL_UNREAD, ALL_UNREAD],
            ["undecided", "undecided"],
            "undecided on 2 of 2 tasks (too much is unread on 2 of them)",
            id="two for one reason",
        ),
    ],
)
def test_terminal_and_pages_give_the_same_reasons_for_no_verdict(cases, verdicts, reasons):
    effects, rows = [], []
    for case in cases:
        task_effects, row = compare_with_unread(*case)
        effects += task_effects
        rows.append(row)

    comparisons = decide(effects)
    differences, sentence = compare_on_page(rows)

    assert [row.verdict for row in comparisons] == verdicts
    assert [difference["verdict"] for difference in differences] == verdicts
    assert sentence == verdict_sentence(comparisons)
    assert sentence.endswith(reasons)


@needs_node
@pytest.mark.parametrize(
    ("measure", "n_units"),
    [
        # Of 30 pairs those of question 3, of 8 and 9, and of 20 are left out.
        pytest.param(group_accuracy, 27, id="pairs"),
        pytest.param(TASK.measures["accuracy"], 56, id="60 questions without these four"),
    ],
)
def test_terminal_and_pages_leave_out_the_same_unscored_units(measure, n_units):
    rng, task = np.random.default_rng(5), build_task("a", measure)
    old = build_scores(QUESTIONS, rng.random(60) < 0.4, "old")
    new = build_scores(QUESTIONS, rng.random(60) < 0.8, "new")
    for scores, index in ((old, 3), (old, 8), (new, 9), (new, 20)):
        scores[index] = replace(scores[index], points=None)

    (comparison,) = compare_scores(task, QUESTIONS, old, new)
    before, after = page_side(task, QUESTIONS, old), page_side(task, QUESTIONS, new)
    (difference,), _ = compare_on_page([{"title": "a", "before": before, "after": after}])

    assert comparison.n == difference["n"] == n_units
    assert difference["change"] == pytest.approx(comparison.change, abs=1e-5)
