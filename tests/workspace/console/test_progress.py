"""Who builds without a terminal is told every ten seconds how far it is."""

from types import SimpleNamespace

import dagster as dg
import pytest

from bench_assets.workspace.console.progress import materialization_progress


def event(table):
    """A table was made, or one of its partitions."""
    happened = SimpleNamespace(is_step_materialization=True, asset_key=dg.AssetKey(table))
    return SimpleNamespace(dagster_event=happened)


@pytest.mark.parametrize(
    ("progress", "title", "tables", "lines"),
    [
        ("as lines", "codis: questions", "abc", ["codis: questions: 2 of 5 tables"]),
        ("as lines", "two partitions", "aab", ["two partitions: 1 of 5 tables"]),
        ("as lines", "", "abc", []),
        ("in the log", "codis: questions", "abc", []),
    ],
)
def test_a_line_says_how_many_tables_there_are(progress, title, tables, lines, capsys):
    clock = iter([0.0, 6.0, 12.0, 18.0])
    with (
        dg.DagsterInstance.ephemeral() as instance,
        materialization_progress(instance, "r", title, 5, progress, lambda: next(clock)),
    ):
        for table in tables:
            for handler in instance._subscribers.get("r", []):
                handler(event(table))
    assert capsys.readouterr().err.splitlines() == lines
