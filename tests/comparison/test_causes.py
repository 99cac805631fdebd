"""The report's page finds the causes that ``bench tables diff`` prints, by Node."""

from dataclasses import asdict, replace
from random import Random

import pytest

from bench_assets.comparison.causes import signature_by_cause
from bench_assets.comparison.difference import decompose_difference
from bench_assets.core.schema.signature import Signature
from bench_assets.report.pages.comparison import _metric_units
from bench_assets.report.point_provenance import input_digests, question_columns
from bench_assets.report.samples.questions import dictionary_encode
from tests.comparison.sides import random_side
from tests.comparison.test_verdicts import PageQuestions
from tests.fakes.measures import both_halves, macro
from tests.fakes.quiz import TASK, quiz
from tests.report.static.node import NO_NODE, NODE, run_module

pytestmark = pytest.mark.skipif(not NODE, reason=NO_NODE)

PAGE = """
import { splitByCause } from "APP/compare/causes.js";
const { exams, pairs } = input;
const known = (shares) => shares.map((share) => share ?? NaN);
const read = (side) => ({ ...side, exam: exams[side.exam], shares: known(side.shares) });
output = pairs.map((pair) => splitByCause(...pair.map(read)));
"""

QUESTIONS = quiz(30, categories=3, group=2)
CHANGED = replace(QUESTIONS[7], text="What else?", answer=("y",), labels={"checked": "yes"})
OTHERS = [*QUESTIONS[4:7], CHANGED, *QUESTIONS[8:], *quiz(34, categories=3, group=2)[30:]]
PAIRS = replace(TASK, measures={"acc_p": both_halves})
MACRO = replace(TASK, measures={"accuracy": macro})


def page_side(task, questions, one, exam):
    """What the page reads of an evaluation."""
    page_questions, records = PageQuestions(questions), one.records
    columns = [
        {name: [getattr(row, name) for row in rows] for name in names}
        for rows, names in (
            (one.predictions, ("question_id", "sample", "text", "ranking", "prompt_sha256",
                               "decoding", "raw_text", "no_answer", "error")),
            (one.scores, ("question_id", "sample", "points", "max_points", "scorer")),
            (one.judgements, ("question_id", "sample", "judge", "criterion", "verdict", "value")),
        )
    ]  # fmt: skip
    ids = [q.question_id for q in questions]
    spelled = signature_by_cause(Signature.parse(one.metrics[0].signature))
    return {
        "ids": ids,
        "categories": dictionary_encode([q.category for q in questions]),
        "shares": [records[name].share for name in ids],
        "exam": exam,
        "of": {"spelled": spelled, **input_digests(ids, *columns)},
        "parts": _metric_units(task, page_questions, one.scores),
        "written": one.stored_value(task.primary_metric),
    }


def in_node(exams, pairs):
    return run_module(PAGE, {"exams": exams, "pairs": pairs})


def cause_rows(rows):
    return [
        (row["cause"], row["n"], row["n_better"], row["n_worse"], list(row["examples"]))
        for row in rows
    ]


@pytest.mark.parametrize(
    ("task", "failing", "others"),
    [
        pytest.param(TASK, 0.2, QUESTIONS, id="accuracy, a fifth without a response"),
        pytest.param(TASK, 0.0, QUESTIONS, id="accuracy, all answered"),
        pytest.param(TASK, 0.2, OTHERS, id="accuracy, questions came, went and changed"),
        pytest.param(PAIRS, 0.0, QUESTIONS, id="pairs"),
        pytest.param(MACRO, 0.0, QUESTIONS, id="macro average"),
    ],
)
def test_page_and_command_find_the_same_causes_and_effects(task, failing, others):
    rng, pairs, wanted = Random(3), [], []
    exams = [
        question_columns(QUESTIONS, PageQuestions(QUESTIONS)),
        question_columns(others, PageQuestions(others)),
    ]
    for _ in range(15):
        a = random_side(QUESTIONS, "one", rng, task=task, failing=failing)
        b = random_side(others, "two", rng, task=task, failing=failing)
        wanted.append(decompose_difference(task, a, b))
        exam = int(others is not QUESTIONS)
        pairs.append([page_side(task, QUESTIONS, a, 0), page_side(task, others, b, exam)])
    for rows, page in zip(wanted, in_node(exams, pairs), strict=True):
        shown = [page["whole"], *page["rows"]]
        assert cause_rows(shown) == cause_rows(map(asdict, rows))
        effects = [row.effect for row in rows]
        assert [row["effect"] for row in shown] == pytest.approx(effects, abs=1e-5)
        assert sum(row.effect or 0.0 for row in rows[1:]) == pytest.approx(effects[0])
