import math
from dataclasses import replace

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


def scored_group(*points, group_id="1"):
    """Scores of the questions of one problem, each about another image."""
    return [
        scored(points=value, question_id=f"{group_id}/{index}", group_id=group_id)
        for index, value in enumerate(points)
    ]


@pytest.mark.parametrize(
    ("rows", "value", "n_scored"),
    [
        pytest.param(scored_group(1.0, 1.0), 1.0, 1, id="right with both images"),
        pytest.param(scored_group(1.0, 0.0), 0.0, 1, id="right with one image only"),
        pytest.param(scored_group(1.0, None), math.nan, 0, id="a question without a verdict"),
        pytest.param(scored_group(1.0), math.nan, 0, id="a problem with a single image"),
        pytest.param(
            scored_group(1.0, 1.0) + scored_group(0.0, 1.0, group_id="2"), 0.5, 2, id="two problems"
        ),
    ],
)
def test_consistency_is_the_share_of_problems_right_with_every_image(rows, value, n_scored):
    mean = consistency(rows)
    assert mean.n_scored == n_scored
    assert mean.value == pytest.approx(value, nan_ok=True)


@pytest.mark.parametrize(
    ("answer", "points", "category", "rate", "n_scored"),
    [
        pytest.param(("3",), 0.0, "hallucination", 1.0, 1, id="counts absent things"),
        pytest.param((), 0.0, "hallucination", 0.0, 1, id="no readable answer"),
        pytest.param(("0",), 1.0, "hallucination", 0.0, 1, id="counts none"),
        pytest.param(("0",), 0.0, "common objects; hallucination", 0.0, 1, id="none, misjudged"),
        pytest.param(("3",), 0.0, "common objects", math.nan, 0, id="things that are present"),
        pytest.param(("3",), None, "hallucination", math.nan, 0, id="unscored"),
    ],
)
def test_hallucination_is_a_wrong_number_for_an_absent_thing(
    answer, points, category, rate, n_scored
):
    row = scored(points=points, answer=("no cups exist", "0"), category=category)
    row = row._replace(score=replace(row.score, answer=answer))
    mean = hallucination_rate([row])
    assert mean.n_scored == n_scored
    assert mean.value == pytest.approx(rate, nan_ok=True)


def test_a_response_with_a_number_of_absent_things_is_a_hallucination_in_each_slice():
    questions = [question(answer=("no cups exist", "0"), category="common objects; hallucination")]
    responses = [prediction(text="Answer: 2")]
    judgements = pipeline.judge(TASK, questions, responses, None)
    scores = pipeline.score(TASK, questions, responses, judgements)
    metrics = pipeline.summarise(TASK, questions, responses, scores)
    rates = {row.category: row.value for row in metrics if row.metric == "hallucination_rate"}
    assert rates == {"all": 1.0, "common objects": 1.0, "hallucination": 1.0}
