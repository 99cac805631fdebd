"""Null tests of readers: responses without an answer, in which they should find none."""

from collections.abc import Mapping

from bench_assets.comparison.people_checks import judges_of
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.measured_figures import JudgeFigure
from bench_assets.evaluation.readers import NULL_RESPONSES
from bench_resources.tables.measured_figures import read_figures
from bench_resources.tables.parquet import TableFiles


def null_tests(tables: TableFiles) -> dict[tuple[str, str], str]:
    """Latest null test of each reader, by task and reader; empty if the file is damaged."""
    try:
        figures = read_figures(tables.home, JudgeFigure)
    except BenchError:  # reported by the command that reads it
        return {}
    latest = {(figure.task, figure.judge, figure.figure): figure for figure in figures}
    results: dict[tuple[str, str], str] = {}
    for (task, reader, figure), test in latest.items():
        if what := NULL_RESPONSES.get(figure):
            before = results.get((task, reader), f"{reader} finds no answer in")
            comma = "," if (task, reader) in results else ""
            results[task, reader] = (
                f"{before}{comma} {round(test.value * test.n)} of {test.n} {what}"
            )
    return results


def reader_test(task: str, signature: str, known: Mapping[tuple[str, str], str]) -> str:
    """Null tests of the readers of a number; "" if there are none.

    >>> reader_test("t", "t|v1|main|judge:look+rules|n:5", {("t", "look"): "look finds no answer"})
    'look finds no answer'
    """
    tests = (known.get((task, judge), "") for judge in judges_of(signature))
    return "; ".join(filter(None, tests))
