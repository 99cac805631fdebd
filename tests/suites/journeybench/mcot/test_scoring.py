"""Labels, consistency and hallucination of MCOT, from the spelling to the metric."""

import pytest

from bench_assets.evaluation import pipeline
from bench_assets.suites.journeybench.mcot.image_references import labels_of
from bench_assets.suites.journeybench.mcot.scoring import consistency, hallucination_rate
from bench_assets.suites.journeybench.mcot.task import TASK
from tests.cases import read_cases, read_rows
from tests.fakes.rows import prediction, question, scored


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        *read_cases(__file__, "label_cells.jsonl", tuples=True),
        *read_rows(__file__, "label_spellings.jsonl", tuples=True),
    ],
)
def test_a_cell_is_read_as_labels(cell, labels):
    assert labels_of(cell) == labels


def group(*points, group_id="1"):
    return [
        scored(points=value, question_id=f"{group_id}/{n}", group_id=group_id)
        for n, value in enumerate(points)
    ]


@pytest.mark.parametrize(
    ("rows", "value", "n"),
    [
        pytest.param(group(1.0, 1.0), 1.0, 1, id="right with both images"),
        pytest.param(group(1.0, 0.0), 0.0, 1, id="right with one image only is nothing"),
        pytest.param(group(1.0, None), None, 0, id="a judge that failed leaves it open"),
        pytest.param(group(1.0), None, 0, id="one image says nothing of consistency"),
        pytest.param(
            group(1.0, 1.0) + group(0.0, 1.0, group_id="2"), 0.5, 2, id="every problem counts once"
        ),
    ],
)
def test_a_problem_counts_if_it_is_right_with_every_image(rows, value, n):
    agreed = consistency(rows)
    assert agreed.n_scored == n
    assert agreed.value == value if value is not None else agreed.value != agreed.value


@pytest.mark.parametrize(
    ("answer", "points", "category", "rate"),
    [
        pytest.param(("3",), 0.0, "hallucination", 1.0, id="counts what is not there"),
        pytest.param((), 0.0, "hallucination", 0.0, id="says nothing readable"),
        pytest.param(("0",), 1.0, "hallucination", 0.0, id="sees that there are none"),
        pytest.param(("0",), 0.0, "common objects; hallucination", 0.0, id="none, misjudged"),
        pytest.param(("3",), 0.0, "common objects", None, id="a question about things there are"),
        pytest.param(("3",), None, "hallucination", None, id="unscored"),
    ],
)
def test_hallucination_is_a_wrong_number_for_an_absent_thing(answer, points, category, rate):
    row = scored(points=points, answer=("no cups exist", "0"), category=category)
    row = row._replace(score=row.score.__class__(**{**_fields(row.score), "answer": answer}))
    found = hallucination_rate([row])
    assert found.n_scored == (rate is not None)
    assert rate is None or found.value == rate


def _fields(score):
    return {name: getattr(score, name) for name in score.__slots__}


def test_from_responses_to_metrics_by_label():
    questions = [
        question(question_id="1", text="q", answer=("4",), category="common objects", group_id="1"),
        question(
            question_id="2",
            text="q",
            answer=("no cups exist", "0"),
            category="common objects; hallucination",
            group_id="1",
        ),
    ]
    responses = [
        prediction(question_id="1", text="Answer: 4"),
        prediction(question_id="2", text="Answer: 2"),
    ]
    judgements = pipeline.judge(TASK, questions, responses, None)
    scores = pipeline.score(TASK, questions, responses, judgements)
    metrics = {
        (row.category, row.metric): row.value
        for row in pipeline.summarise(TASK, questions, responses, scores)
    }
    assert metrics["all", "accuracy"] == 0.5
    assert metrics["common objects", "accuracy"] == 0.5
    assert metrics["hallucination", "accuracy"] == 0.0
    assert metrics["all", "consistency"] == 0.0
    assert metrics["all", "hallucination_rate"] == 1.0
