from types import SimpleNamespace

import dagster as dg
import pytest

from bench_assets.workspace.console.progress import materialization_progress


def materialization(table):
    """The event that a table, or one of its partitions, was built."""
    event = SimpleNamespace(is_step_materialization=True, asset_key=dg.AssetKey(table))
    return SimpleNamespace(dagster_event=event)


@pytest.mark.parametrize(
    ("progress", "title", "tables", "lines"),
    [
        ("as lines", "codis: questions", "abc", ["codis: questions: 2 of 5 tables"]),
        ("as lines", "two partitions", "aab", ["two partitions: 1 of 5 tables"]),
        ("as lines", "", "abc", []),
        ("in the log", "codis: questions", "abc", []),
    ],
)
def test_the_number_of_tables_is_printed_every_ten_seconds(progress, title, tables, lines, capsys):
    clock = iter([0.0, 6.0, 12.0, 18.0])  # s: the start, and the three events
    with (
        dg.DagsterInstance.ephemeral() as instance,
        materialization_progress(instance, "r", title, 5, progress, lambda: next(clock)),
    ):
        for table in tables:
            for handler in instance._subscribers.get("r", []):
                handler(materialization(table))
    assert capsys.readouterr().err.splitlines() == lines
