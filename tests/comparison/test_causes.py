from dataclasses import asdict, replace
from random import Random

import pytest

from bench_assets.comparison.causes import signature_by_cause
from bench_assets.comparison.difference import decompose_difference
from bench_assets.core.schema.signature import Signature
from bench_assets.report.pages.comparison import _metric_units
from bench_assets.report.point_provenance import input_digests, question_columns
from bench_assets.report.samples.questions import dictionary_encode
from tests.comparison.sides import build_random_evaluation
from tests.comparison.test_verdicts import PageQuestions
from tests.fakes.measures import both_halves, macro
from tests.fakes.quiz import TASK, quiz
from tests.report.static.node import NO_NODE, NODE, run_module

pytestmark = pytest.mark.skipif(not NODE, reason=NO_NODE)

PAGE = """
import { splitByCause } from "APP/compare/causes.js";
const { exams, pairs } = input;
const numbers = (shares) => shares.map((share) => share ?? NaN);
const decode = (side) => ({ ...side, exam: exams[side.exam], shares: numbers(side.shares) });
output = pairs.map(([before, after]) => splitByCause(decode(before), decode(after)));
"""

QUESTIONS = quiz(30, categories=3, group=2)
CHANGED_QUESTION = replace(
    QUESTIONS[7], text="What else?", answer=("y",), labels={"checked": "yes"}
)
CHANGED_QUESTIONS = [
    *QUESTIONS[4:7],
    CHANGED_QUESTION,
    *QUESTIONS[8:],
    *quiz(34, categories=3, group=2)[30:],
]
PAIRS = replace(TASK, measures={"acc_p": both_halves})
MACRO = replace(TASK, measures={"accuracy": macro})


def page_evaluation(task, questions, evaluation, exam):
    """The data of an evaluation for the page; ``exam`` is the index of its questions."""
    records = evaluation.records
    columns = [
        {name: [getattr(row, name) for row in rows] for name in names}
        for rows, names in (
            (evaluation.predictions, ("question_id", "sample", "text", "ranking", "prompt_sha256",
                               "decoding", "raw_text", "no_answer", "error")),
            (evaluation.scores, ("question_id", "sample", "points", "max_points", "scorer")),
            (evaluation.judgements,
             ("question_id", "sample", "judge", "criterion", "verdict", "value")),
        )
    ]  # fmt: skip
    ids = [q.question_id for q in questions]
    signature = Signature.parse(evaluation.metrics[0].signature)
    return {
        "ids": ids,
        "categories": dictionary_encode([q.category for q in questions]),
        "shares": [records[name].share for name in ids],
        "exam": exam,
        "of": {"spelled": signature_by_cause(signature), **input_digests(ids, *columns)},
        "parts": _metric_units(task, PageQuestions(questions), evaluation.scores),
        "written": evaluation.stored_value(task.primary_metric),
    }


def causes_and_counts(rows):
    return [
        (row["cause"], row["n"], row["n_better"], row["n_worse"], list(row["examples"]))
        for row in rows
    ]


@pytest.mark.parametrize(
    ("task", "failing", "new_questions"),
    [
        pytest.param(TASK, 0.2, QUESTIONS, id="accuracy, a fifth without a response"),
        pytest.param(TASK, 0.0, QUESTIONS, id="accuracy, all answered"),
        pytest.param(TASK, 0.2, CHANGED_QUESTIONS, id="accuracy, questions came, went and changed"),
        pytest.param(PAIRS, 0.0, QUESTIONS, id="pairs"),
        pytest.param(MACRO, 0.0, QUESTIONS, id="macro average"),
    ],
)
def test_page_and_command_find_the_same_causes_and_effects(task, failing, new_questions):
    rng, page_pairs, expected = Random(3), [], []
    exam_questions = [QUESTIONS, new_questions]
    exams = [question_columns(rows, PageQuestions(rows)) for rows in exam_questions]
    new_exam = exam_questions.index(new_questions)
    for _ in range(15):
        before = build_random_evaluation(QUESTIONS, "one", rng, task=task, failing=failing)
        after = build_random_evaluation(new_questions, "two", rng, task=task, failing=failing)
        expected.append(decompose_difference(task, before, after))
        page_pairs.append(
            [
                page_evaluation(task, QUESTIONS, before, exam=0),
                page_evaluation(task, new_questions, after, exam=new_exam),
            ]
        )

    pages = run_module(PAGE, {"exams": exams, "pairs": page_pairs})

    for rows, page in zip(expected, pages, strict=True):
        page_rows = [page["whole"], *page["rows"]]
        assert causes_and_counts(page_rows) == causes_and_counts(map(asdict, rows))
        effects = [row.effect for row in rows]
        assert [row["effect"] for row in page_rows] == pytest.approx(effects, abs=1e-5)
        assert sum(row.effect or 0.0 for row in rows[1:]) == pytest.approx(effects[0])
