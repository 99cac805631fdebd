"""The leaderboard at one look: every edition for itself, what is blind beside, marks explained."""

from dataclasses import replace
from math import nan
from typing import Any

import pytest

from bench_assets.cli.output.leaderboard import print_matrices
from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.workspace.inspect.leaderboard import Matrix, matrices


def measured(task: str, model: str, value: float, **more: Any) -> LeaderboardRow:
    given: dict[str, Any] = {"edition": "mini", "source": "measured here", "n_scored": 10, **more}
    return LeaderboardRow(
        task=task,
        metric="accuracy",
        model=model,
        value=value,
        low=None,
        high=None,
        n_unscored=0,
        signature="",
        constant=0.4,
        **{"n_failed": 0, **given},
    )


def printed(task: str, model: str, value: float) -> LeaderboardRow:
    return measured(
        task, model, value, edition="published", source="P, Table 1", n_scored=None, n_failed=None
    )


ROWS = [
    measured("a", "good", 0.9),
    measured("a", "bad", 0.1, n_failed=3),
    measured("a", "narrow", 0.5),
    measured("b", "good", 0.8),
    measured("b", "bad", 0.3, stale="the judge is another"),
    measured("c", "bad", nan, n_scored=None, n_failed=None),
    printed("a", "GPT-4V", 0.7),
]


def cells(matrix: Matrix) -> dict[str, dict[str, str]]:
    return {line.name: dict(line.cells) for line in (*matrix.models, *matrix.blind)}


def test_each_edition_has_its_matrix_and_papers_are_not_among_the_models() -> None:
    mini, published = matrices(ROWS, {"a": 0.25, "b": None})
    assert cells(mini) == {
        "good": {"a": "0.900", "b": "0.800"},
        "bad": {"a": "0.100*", "b": "0.300~", "c": "!"},
        "narrow": {"a": "0.500"},
        "chance": {"a": "0.250"},
        "best constant response": {"a": "0.400", "b": "0.400", "c": "0.400"},
    }
    assert (published.models, published.blind) == ((), ())
    assert [(line.name, line.cells) for line in published.published] == [
        ("GPT-4V (P, Table 1)", {"a": "0.700"})
    ]


def test_models_stand_by_their_mean_rank_over_the_tasks_that_all_have() -> None:
    """`narrow` has one task of three: it has no rank, and comes last."""
    matrix, _ = matrices(ROWS, {})
    assert [(line.name, line.rank) for line in matrix.models] == [
        ("good", "1.0"),
        ("bad", "2.0"),
        ("narrow", ""),
    ]
    assert matrix.ranked == ("a", "b")
    assert matrix.winner == "good has the best mean rank, 1.0, of 2 models over 2 tasks."


def test_nobody_wins_alone_or_on_one_task() -> None:
    alone = [measured(task, "m", 0.5) for task in ("a", "b")]
    assert [matrix.winner for matrix in matrices(alone, {})] == [""]
    two = [measured("a", model, 0.5) for model in ("m", "n")]
    assert [matrix.winner for matrix in matrices(two, {})] == [""]


def test_tables_of_another_source_are_a_matrix_of_their_own() -> None:
    rows = [measured("a", "m", 0.5), measured("a", "m", 0.6, place="old-1")]
    here, there = matrices(rows, {"a": 0.25})
    assert (here.edition, there.edition) == ("mini edition", "mini edition of old-1")
    assert "chance" in cells(here)
    assert "chance" not in cells(there)  # which is known of the present questions


def test_what_people_checked_and_what_they_did_not_is_marked(capsys) -> None:
    checked = "checked by people: 100 of 1,300; without them 0.838, bias +0.12 (+0.09 to +0.15)"
    rows = [
        replace(ROWS[0], people="not checked by people; bias +0.12 (+0.09 to +0.15) at run/step-1"),
        replace(ROWS[2], people=checked),
    ]
    (matrix,) = matrices(rows, {})
    assert cells(matrix)["good"] == {"a": "0.900?"}
    assert cells(matrix)["narrow"] == {"a": "0.500\nchecked by people: 100 of 1,300"}
    print_matrices(rows, {}, published=False)
    assert "\n? not checked by people, the judge's own number" in capsys.readouterr().out


def test_what_cannot_be_read_stands_beside_what_can_and_alone_where_nothing_can() -> None:
    lost = measured("c", "good", nan, n_scored=None, n_failed=None, edition="unknown")
    (mini,) = matrices([lost, *ROWS[:3]], {})
    assert cells(mini)["good"] == {"a": "0.900", "c": "!"}
    elsewhere = replace(lost, place="theirs")
    assert [one.edition for one in matrices([*ROWS[:1], elsewhere], {})] == [
        "mini edition",
        "unknown edition of theirs",
    ]
    unscored = measured("c", "good", nan, n_scored=0)
    assert cells(*matrices([unscored], {}))["good"] == {"c": "none"}
    (alone,) = matrices([lost], {})
    assert cells(alone)["good"] == {"c": "!"}


def test_baselines_are_reference_lines_without_a_rank() -> None:
    rows = [
        *(measured(task, "model", 0.3) for task in "ab"),
        *(measured(task, "other", 0.2) for task in "ab"),
        *(measured(task, "random", 0.9, is_baseline=True) for task in "ab"),
    ]
    (matrix,) = matrices(rows, {})
    assert [(line.name, line.rank) for line in matrix.models] == [
        ("model", "1.0"),
        ("other", "2.0"),
    ]
    assert [(line.name, line.rank) for line in matrix.blind] == [
        ("random", ""),
        ("best constant response", ""),
    ]


def test_a_wide_matrix_is_printed_in_blocks_of_100_columns(capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    tasks = [f"journeybench/task_{n}" for n in range(12)]
    models = ("a-model/step-0100", "b")
    print_matrices([measured(one, m, 0.5) for one in tasks for m in models], {}, published=False)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert [line.partition(" ")[0] for line in lines].count("b") == 3  # 5, 5 and 2 of 14 columns
    assert sum(line.count("0.500") for line in lines) == 24


def test_the_lowest_error_has_the_best_rank() -> None:
    """Ranks on a: x 1, y 2; on e, an error rate: x 1, y 2, of 0.1 and 0.3. Mean: 1 and 2."""
    rows = [
        measured("a", "x", 0.9),
        measured("a", "y", 0.8),
        measured("e", "x", 0.1, lower_is_better=True),
        replace(measured("e", "y", 0.3, lower_is_better=True), constant=0.2),
    ]
    (matrix,) = matrices(rows, {})
    assert [(line.name, line.rank) for line in matrix.models] == [("x", "1.0"), ("y", "2.0")]
    assert cells(matrix)["best constant response"] == {"a": "0.400", "e": "0.200"}
    assert "lower is better: e" in matrix.legend


def test_what_was_learnt_is_first_and_the_rest_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The best constant response has 0.4: 0.35 to 0.55 reaches it, 0.5 to 0.7 does not."""
    rows = [
        replace(measured("a", "good", 0.45), low=0.35, high=0.55),
        replace(measured("b", "good", 0.6), low=0.5, high=0.7),
        replace(measured("b", "other", 0.1), low=0.0, high=0.2),
    ]
    (matrix,) = matrices(rows, {})
    assert (matrix.tasks, matrix.unlearnt) == (("b", "a"), ("a",))
    assert matrix.legend == [
        "– not evaluated",
        "no model is shown to be better than the best blind baseline: a",
    ]
    print_matrices(rows, {}, published=False, only_learnt=True)
    printed = capsys.readouterr().out
    assert "0.600" in printed
    assert "0.450" not in printed
