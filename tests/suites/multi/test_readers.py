"""Points of the same responses by four scorers; expected points by hand, from BENCHMARKS 2.3.

Each row: type, gold, response, points by the scorers careful, paper, current and current_end.
"""

from dataclasses import replace

import pytest

from bench_assets.suites.multi.readers import says_image_is_missing
from bench_assets.suites.multi.task import TASK
from tests.cases import read_rows
from tests.fakes.multi_rows import answered

SCORERS = ("careful", "paper", "current", "current_end")

SA = read_rows(__file__, "single_choice_points.jsonl")
MA = read_rows(__file__, "several_choice_points.jsonl")
FB = read_rows(__file__, "blank_points.jsonl")
FULL_WIDTH = read_rows(__file__, "full_width_points.jsonl")
TABLE = [
    (kind, *row)
    for kind, rows in (("SA", SA), ("MA", MA), ("FB", FB), ("FB", FULL_WIDTH))
    for row in rows
]
THOUGHTS = [  # a response that came with thoughts: the authors' scripts get it whole
    ("SA", "B", "<think>A?</think>B", [1, 0, 1, 1]),
    ("SA", "B", "<think>又想</think>B", [1, 0, 1, 1]),
    ("MA", "AC", "<think>ABC</think>AC", [2, 0, 2, 2]),
    ("FB", "0.5", "<think>0.4</think>0.5", [1, 0, 1, 1]),
    ("FB", "0.5", "<think>想</think>\n\n0.5", [1, 0, 1, 1]),
]


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("row", [pytest.param(row, id=f"{row[0]}: {row[1]}") for row in TABLE])
def test_points_of_a_response(row, scorer):
    kind, _, gold, response, *points = row
    max_points = {"SA": 1, "MA": len(gold), "FB": gold.count("\n") + 1}
    score = TASK.scorer(scorer)(answered(response, kind, gold), [])
    assert score.points == points[SCORERS.index(scorer)]
    assert score.max_points == max_points[kind]


@pytest.mark.parametrize(("kind", "gold", "raw_text", "points"), THOUGHTS)
def test_the_authors_scripts_read_the_thoughts_too(kind, gold, raw_text, points):
    _, _, text = raw_text.rpartition("</think>")
    pair = answered(text.strip(), kind, gold)
    pair = pair._replace(prediction=replace(pair.prediction, raw_text=raw_text))
    assert [TASK.scorer(scorer)(pair, []).points for scorer in SCORERS] == points


def test_a_refusal_is_a_statement_that_image_information_is_missing():
    assert says_image_is_missing("由于缺少图片信息，无法作答")
    assert not says_image_is_missing("图片信息充足")
