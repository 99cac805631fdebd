"""Who builds without a terminal is told every ten seconds how far it is."""

import dagster as dg
import pytest

from bench_assets.workspace.console.progress import materialization_progress


class _Event:
    """A table was made."""

    class dagster_event:  # noqa: N801
        is_step_materialization = True


@pytest.mark.parametrize(
    ("progress", "title", "lines"),
    [
        ("as lines", "codis: questions", ["codis: questions: 2 of 5 tables"]),
        ("as lines", "", []),
        ("in the log", "codis: questions", []),
    ],
)
def test_a_line_says_how_many_tables_there_are(progress, title, lines, capsys):
    clock = iter([0.0, 6.0, 12.0, 18.0])
    with (
        dg.DagsterInstance.ephemeral() as instance,
        materialization_progress(instance, "r", title, 5, progress, lambda: next(clock)),
    ):
        for _ in range(3):
            for handler in instance._subscribers.get("r", []):
                handler(_Event)
    assert capsys.readouterr().err.splitlines() == lines
