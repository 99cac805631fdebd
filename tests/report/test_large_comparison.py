"""Units of a table that is not held in memory, which are those of the same table as a list."""

from dataclasses import replace
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from bench_assets.core.schema.rows import Score
from bench_assets.core.tables.arrow import arrow_schema, to_table
from bench_assets.core.tables.large_tables import BlockWriter, LargeTable
from bench_assets.evaluation.task import Task
from bench_assets.report.pages.comparison import _large_parts, _parts
from tests.comparison.test_compare_pairs import Asked
from tests.comparison.test_units import both_halves
from tests.quiz import TASK, quiz

N = 400
QUESTIONS = [
    replace(one, group_id=f"pair {n // 2}" if n % 3 else "", images=(f"{n // 5}",))
    for n, one in enumerate(quiz(N, categories=4))
]


def in_blocks(rows: list[Score]) -> LargeTable[Score]:
    writer = BlockWriter(arrow_schema(Score))
    for start in range(0, len(rows), 90):
        writer.add(to_table(rows[start : start + 90], Score))
    return LargeTable(writer.blocks(), Score)


def scores(*, draws: int, points: tuple[float | None, ...] = (0.0, 1.0)) -> list[Score]:
    rng = Random(draws)
    return [
        Score(
            question_id=one.question_id,
            model="m",
            condition="main",
            sample=draw,
            points=rng.choice(points),
            max_points=float(number % 10 > 0),
        )
        for number, one in enumerate(QUESTIONS)
        for draw in range(draws)
    ]


@pytest.fixture
def asked() -> Any:
    found = Asked(QUESTIONS)
    found.ids = pa.array([one.question_id for one in QUESTIONS])
    return found


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(scores(draws=1), id="one draw"),
        pytest.param(scores(draws=3), id="three draws"),
        pytest.param(scores(draws=1, points=(0.0, 0.25, None)), id="some without points"),
        pytest.param(Random(0).sample(scores(draws=2), 2 * N), id="in any order"),
        pytest.param(scores(draws=1)[N // 2 :], id="half of the questions"),
    ],
)
@pytest.mark.parametrize("adds", [{}, {"accuracy": lambda scored: [0.5] * len(scored)}])
def test_a_large_table_has_the_units_of_the_list(
    rows: list[Score], adds: dict[str, Any], asked: Any
) -> None:
    task: Task = replace(TASK, adds=adds)
    wanted, found = _parts(task, asked, rows), _large_parts(task, asked, in_blocks(rows))
    assert found is not None
    (way, columns), *others = found.pop("ways").items()
    assert others == []
    assert {name: list(values) for name, values in columns.items()} == wanted.pop("ways")[way]
    assert found == {**wanted, "value": pytest.approx(wanted["value"], rel=1e-12)}


def test_a_metric_of_pairs_is_left_to_the_list(asked: Any) -> None:
    task = replace(TASK, measures={"pairs": both_halves})
    assert _large_parts(task, asked, in_blocks(scores(draws=1))) is None


def test_numbers_of_clusters_and_pairs_are_those_of_their_first_questions(asked: Any) -> None:
    for number, one in enumerate(QUESTIONS):
        cluster = asked.clusters[one.question_id]
        assert asked.cluster_of_each[number] == asked.numbers["cluster", cluster]
        pair = f"pair {one.group_id}" if one.group_id else one.question_id
        assert asked.pair_of_each[number] == asked.numbers["pair", pair]
