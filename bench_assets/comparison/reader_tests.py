"""Null tests of readers: responses without an answer, in which they should find none."""

from collections import defaultdict
from collections.abc import Mapping

from bench_assets.comparison.people_checks import judge_names
from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.measured_figures import JudgeFigure
from bench_assets.evaluation.readers import NULL_RESPONSES
from bench_resources.tables.measured_figures import read_figures
from bench_resources.tables.parquet import TableFiles


def null_tests(tables: TableFiles) -> dict[tuple[str, str], str]:
    """Latest null tests as text, by task and reader; empty if the file of figures is damaged."""
    try:
        figures = read_figures(tables.home, JudgeFigure)
    except BenchError:  # reported by the command that reads it
        return {}
    latest = {(figure.task, figure.judge, figure.figure): figure for figure in figures}
    counts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (task, reader, figure_name), figure in latest.items():
        if responses := NULL_RESPONSES.get(figure_name):
            n_without_answer = round(figure.value * figure.n)
            counts[task, reader].append(f"{n_without_answer} of {figure.n} {responses}")
    return {
        (task, reader): f"{reader} finds no answer in {', '.join(reader_counts)}"
        for (task, reader), reader_counts in counts.items()
    }


def reader_test(task: str, signature: str, tests: Mapping[tuple[str, str], str]) -> str:
    """Null tests of the readers of a number, from ``null_tests``; "" if there are none.

    >>> reader_test("t", "t|v1|main|judge:look+rules|n:5", {("t", "look"): "look finds no answer"})
    'look finds no answer'
    """
    sentences = (tests.get((task, judge), "") for judge in judge_names(signature))
    return "; ".join(filter(None, sentences))
