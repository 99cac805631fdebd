from dataclasses import replace
from math import nan
from typing import Any

import pytest

from bench_assets.cli.output.leaderboard import print_matrices
from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.workspace.inspect.leaderboard import Matrix, matrices


def measured(task: str, model: str, value: float, **fields: Any) -> LeaderboardRow:
    """A row that was measured here; its best constant response has 0.4."""
    row = LeaderboardRow(
        task=task, metric="accuracy", model=model, value=value, low=None, high=None,
        n_scored=10, n_unscored=0, n_failed=0, signature="", constant=0.4,
        edition="mini", source="measured here",
    )  # fmt: skip
    return replace(row, **fields)


def published(task: str, model: str, value: float) -> LeaderboardRow:
    return measured(
        task, model, value, edition="published", source="P, Table 1", n_scored=None, n_failed=None
    )


def unreadable(task: str, model: str, **fields: Any) -> LeaderboardRow:
    return measured(task, model, nan, n_scored=None, n_failed=None, **fields)


ROWS = [
    measured("a", "good", 0.9),
    measured("a", "bad", 0.1, n_failed=3),
    measured("a", "narrow", 0.5),
    measured("b", "good", 0.8),
    measured("b", "bad", 0.3, stale="the judge is another"),
    unreadable("c", "bad"),
    published("a", "GPT-4V", 0.7),
]


def cells(matrix: Matrix) -> dict[str, dict[str, str]]:
    return {line.name: dict(line.cells) for line in (*matrix.models, *matrix.blind)}


def test_each_edition_has_its_matrix_with_numbers_of_papers_apart() -> None:
    mini, of_papers = matrices(ROWS, {"a": 0.25, "b": None})
    assert cells(mini) == {
        "good": {"a": "0.900", "b": "0.800"},
        "bad": {"a": "0.100*", "b": "0.300~", "c": "!"},
        "narrow": {"a": "0.500"},
        "chance": {"a": "0.250"},
        "best constant response": {"a": "0.400", "b": "0.400", "c": "0.400"},
    }
    assert (of_papers.models, of_papers.blind) == ((), ())
    assert [(line.name, line.cells) for line in of_papers.published] == [
        ("GPT-4V (P, Table 1)", {"a": "0.700"})
    ]


def test_models_are_ordered_by_their_mean_rank_and_one_of_few_tasks_comes_last() -> None:
    """`narrow` was measured on one of three tasks: it has no rank."""
    matrix, _ = matrices(ROWS, {})
    assert [(line.name, line.rank) for line in matrix.models] == [
        ("good", "1.0"),
        ("bad", "2.0"),
        ("narrow", ""),
    ]
    assert matrix.ranked == ("a", "b")
    assert matrix.winner == "good has the best mean rank, 1.0, of 2 models over 2 tasks."


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([measured("a", "m", 0.5), measured("b", "m", 0.5)], id="one model"),
        pytest.param([measured("a", "m", 0.5), measured("a", "n", 0.5)], id="one task"),
    ],
)
def test_nobody_wins_alone_or_on_one_task(rows: list[LeaderboardRow]) -> None:
    (matrix,) = matrices(rows, {})
    assert matrix.winner == ""


def test_tables_of_another_source_are_a_matrix_of_their_own() -> None:
    rows = [measured("a", "m", 0.5), measured("a", "m", 0.6, place="old-1")]
    present, former = matrices(rows, {"a": 0.25})
    assert (present.edition, former.edition) == ("mini edition", "mini edition of old-1")
    assert "chance" in cells(present)
    assert "chance" not in cells(former)  # chance is computed from the present questions


def test_numbers_that_people_checked_or_did_not_check_are_marked(capsys) -> None:
    check = "checked by people: 100 of 1,300; without them 0.838, bias +0.12 (+0.09 to +0.15)"
    unchecked = "not checked by people; bias +0.12 (+0.09 to +0.15) at run/step-1"
    rows = [
        measured("a", "good", 0.9, people=unchecked),
        measured("a", "narrow", 0.5, people=check),
    ]
    (matrix,) = matrices(rows, {})
    assert cells(matrix)["good"] == {"a": "0.900?"}
    assert cells(matrix)["narrow"] == {"a": "0.500\nchecked by people: 100 of 1,300"}
    print_matrices(rows, {}, published=False)
    assert "\n? not checked by people, the judge's own number" in capsys.readouterr().out


def test_an_unreadable_table_is_marked_beside_the_readable_ones() -> None:
    rows = [unreadable("c", "good", edition="unknown"), measured("a", "good", 0.9)]
    (matrix,) = matrices(rows, {})
    assert cells(matrix)["good"] == {"a": "0.900", "c": "!"}


def test_an_unreadable_table_of_another_source_has_a_matrix_of_its_own() -> None:
    rows = [measured("a", "good", 0.9), unreadable("c", "good", edition="unknown", place="theirs")]
    editions = [matrix.edition for matrix in matrices(rows, {})]
    assert editions == ["mini edition", "unknown edition of theirs"]


@pytest.mark.parametrize(
    ("row", "cell"),
    [
        (unreadable("c", "good", edition="unknown"), "!"),
        (measured("c", "good", nan, n_scored=0), "none"),
    ],
    ids=["nothing can be read", "nothing was scored"],
)
def test_a_model_without_any_number_has_a_row(row: LeaderboardRow, cell: str) -> None:
    (matrix,) = matrices([row], {})
    assert cells(matrix)["good"] == {"c": cell}


def test_baselines_are_reference_lines_without_a_rank() -> None:
    rows = []
    for task in ("a", "b"):
        rows.append(measured(task, "model", 0.3))
        rows.append(measured(task, "other", 0.2))
        rows.append(measured(task, "random", 0.9, is_baseline=True))
    (matrix,) = matrices(rows, {})
    assert [(line.name, line.rank) for line in matrix.models] == [
        ("model", "1.0"),
        ("other", "2.0"),
    ]
    assert [(line.name, line.rank) for line in matrix.blind] == [
        ("random", ""),
        ("best constant response", ""),
    ]


def test_a_wide_matrix_is_printed_in_blocks_of_100_characters(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    tasks = [f"journeybench/task_{n}" for n in range(12)]
    models = ("a-model/step-0100", "b")
    rows = [measured(task, model, 0.5) for task in tasks for model in models]
    print_matrices(rows, {}, published=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    first_words = [line.partition(" ")[0] for line in lines]
    assert first_words.count("b") == 3  # blocks of 5, 5 and 2 of the 12 tasks
    assert sum(line.count("0.500") for line in lines) == 24


def test_the_lowest_error_has_the_best_rank() -> None:
    """On ``a`` the ranks are x 1 and y 2, on the error rate ``e``, too: 0.1 is below 0.3."""
    rows = [
        measured("a", "x", 0.9),
        measured("a", "y", 0.8),
        measured("e", "x", 0.1, lower_is_better=True),
        measured("e", "y", 0.3, lower_is_better=True, constant=0.2),
    ]
    (matrix,) = matrices(rows, {})
    assert [(line.name, line.rank) for line in matrix.models] == [("x", "1.0"), ("y", "2.0")]
    assert cells(matrix)["best constant response"] == {"a": "0.400", "e": "0.200"}
    assert "lower is better: e" in matrix.legend


def test_tasks_on_which_no_model_beats_the_baseline_come_last(capsys):
    """The best constant response has 0.4: 0.35 to 0.55 contains it, 0.5 to 0.7 does not."""
    rows = [
        measured("a", "good", 0.45, low=0.35, high=0.55),
        measured("b", "good", 0.6, low=0.5, high=0.7),
        measured("b", "other", 0.1, low=0.0, high=0.2),
    ]
    (matrix,) = matrices(rows, {})
    assert (matrix.tasks, matrix.unlearnt) == (("b", "a"), ("a",))
    assert matrix.legend == [
        "– not evaluated",
        "no model is shown to be better than the best blind baseline: a",
    ]
    print_matrices(rows, {}, published=False, only_learnt=True)
    output = capsys.readouterr().out
    assert "0.600" in output
    assert "0.450" not in output
