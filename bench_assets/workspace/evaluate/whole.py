"""Full evaluation of a suite, stored in the tables of the home."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from bench_assets.core.schema.errors import BenchError
from bench_assets.core.schema.rows import Metric
from bench_assets.workspace.materialization.backfill import (
    build_questions,
    outcome_messages,
    rejection_messages,
)
from bench_assets.workspace.materialization.workbench import Workbench


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEvaluation:
    """Metrics of a suite, and errors of tasks that were not evaluated."""

    names: Sequence[str]  # the suite, or those of its tasks whose questions could be built
    metrics: Sequence[Metric]
    outcomes: Sequence[str]  # a sentence for what was not answered by one model, or not read
    rejected: Sequence[str]  # a sentence for each task of whose source rows are left out
    failures: Sequence[BenchError]


def evaluate_suite(
    bench: Workbench, suite: str, askings: Sequence[tuple[str, str]]
) -> SuiteEvaluation:
    """Build a suite's questions, and evaluate models on all of them.

    Args:
        bench: The home folder.
        suite: Suite or task.
        askings: Models with the condition under which each is asked.

    Raises:
        BenchError: If a model cannot be asked, or no questions can be built.
    """
    names, failures = build_questions(bench, suite)
    metrics: list[Metric] = []
    for name, one in askings:
        bench.evaluate(names, name, one)
        metrics += [row for part in names for row in bench.metrics(part, name, one)]
    return SuiteEvaluation(
        names=names,
        metrics=metrics,
        outcomes=[
            sentence
            for part, (name, one) in itertools.product(names, askings)
            for sentence in outcome_messages(bench, part, name, one)
        ],
        rejected=[sentence for part in names for sentence in rejection_messages(bench, part)],
        failures=failures,
    )
