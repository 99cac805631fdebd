"""``bench evaluate``: models, or a file of responses."""

import itertools
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import (
    error_reporting,
    open_home,
    open_settings,
    raise_last,
)
from bench_assets.cli.app.options import JsonOption, OptionalModelsOption, SourceOption
from bench_assets.core.schema.elicitation import GENERATE
from bench_assets.workspace.console.output import print_message, print_results, print_rows
from bench_assets.workspace.materialization.model_arguments import save_models

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from bench_assets.asset_factory.question_subset import QuestionSubset
    from bench_assets.comparison.results import Result
    from bench_assets.core.schema.errors import BenchError
    from bench_assets.core.schema.rows import Metric
    from bench_assets.evaluation.task import Evaluation
    from bench_assets.workspace.evaluate.recorded_responses import MatchedResponses
    from bench_assets.workspace.materialization.workbench import Workbench

    _PrintResults = Callable[[Sequence[Result], Sequence[Metric]], None]

app = typer.Typer()


ConditionsOption = Annotated[
    list[str] | None,
    typer.Option("--condition", help="Condition: main (the default) or an ablation; repeatable."),
]
JudgeOption = Annotated[
    str, typer.Option(help='Judge: a model of bench.toml, "rules" or "people".')
]
ReaderOption = Annotated[
    str,
    typer.Option(
        help='Reader of responses that no rule reads: a model of bench.toml, "self" or "rules".'
    ),
]
ScorerOption = Annotated[str, typer.Option(help="Scorer of responses.")]
ElicitOption = Annotated[
    str,
    typer.Option(
        help="Elicitation: generate; or likelihood, for questions with options.", show_default=False
    ),
]


class Acceptable(StrEnum):
    """Outcomes that ``--accept`` allows in a result."""

    refused = "refused"
    mixed = "mixed"


AcceptOption = Annotated[
    list[Acceptable] | None,
    typer.Option(
        help="refused: permanently refused requests count as wrong; mixed: several models or"
        " snapshots may have answered. Part of the signature; repeatable."
    ),
]
LimitOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="Evaluate at most N questions per task, stratified by category; 0: all. Results that"
        " leave out questions are marked PARTIAL, and have no rank.",
    ),
]
CategoryOption = Annotated[
    list[str] | None, typer.Option(help="Evaluate this category only, marked PARTIAL; repeatable.")
]


@app.command()
def evaluate(
    suites: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SUITE]...", help="Suites or tasks, such as codis. Default: all."),
    ] = None,
    model: OptionalModelsOption = None,
    condition: ConditionsOption = None,
    source: SourceOption = "",
    judge: JudgeOption = "",
    reader: ReaderOption = "",
    scorer: ScorerOption = "",
    elicit: ElicitOption = "",
    limit: LimitOption = 0,
    category: CategoryOption = None,
    responses: Annotated[
        Path | None,
        typer.Option(
            help="Evaluate existing responses: JSON lines with question_id and text.",
            show_default=False,
        ),
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print requests, time and cost; send nothing.")
    ] = False,
    accept: AcceptOption = None,
    keep_going: Annotated[
        bool,
        typer.Option(
            "--keep-going", help="One run per model and condition; go on after a failure."
        ),
    ] = False,
    all_metrics: Annotated[
        bool, typer.Option("--all", help="Print all metrics, also of each category.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Evaluate models: generate, judge, score, aggregate. Cached responses are reused.

    With --responses, only a judge and a reader get requests.

    The judge "recorded" takes verdicts from the file's field judge_response.

    Example: bench evaluate blink --model runs/step-500 --limit 50
    """
    with error_reporting():
        from bench_assets.workspace.materialization.opening import add_benchmarks

        suites = add_benchmarks(suites or ())
    suite = suites[0] if len({*suites}) == 1 else ""
    if not suite and (source or judge or reader or scorer or responses):
        raise typer.BadParameter(
            "--source, --judge, --reader, --scorer and --responses need exactly one suite. Name it"
        )
    if bool(model) == bool(responses):
        raise typer.BadParameter("expected either --model or --responses")
    elicit_option = {"--elicit": elicit not in ("", GENERATE)}
    subset_options = {"--limit": limit, "--category": category}
    request_options = {"--condition": condition, "--dry-run": dry_run, "--keep-going": keep_going}
    _check_combination("--keep-going", keep_going, {**subset_options, "--all": all_metrics})
    _check_combination("--scorer", scorer, elicit_option)  # it would have no texts to parse
    _check_combination(
        "--responses", responses, {**subset_options, **request_options, **elicit_option}
    )
    accepted = [outcome.value for outcome in accept or ()]
    open_bench = partial(
        open_home, suite, source, judge, scorer, reader=reader, accept=accepted, rule="stated"
    )
    print_metrics = partial(print_results, as_json=as_json, all_metrics=all_metrics)
    if responses:
        _evaluate_responses(suite, responses, open_bench, print_metrics)
        return
    with open_bench(models=model or (), elicit=elicit) as bench:
        from bench_assets.asset_factory.question_subset import QuestionSubset

        subset = QuestionSubset(limit=limit, categories=tuple(category or ()))
        suites = list(dict.fromkeys(suites)) or list(bench.catalog.evaluable.names)
        conditions = list(dict.fromkeys(condition or ["main"]))
        if dry_run:
            _print_estimates(bench, suites, conditions, subset, as_json=as_json)
        elif keep_going:
            _backfill(bench, suites, conditions, as_json=as_json)
        else:
            _evaluate_models(bench, suites, conditions, subset, print_metrics)


def _evaluate_models(
    bench: "Workbench",
    suites: "Sequence[str]",
    conditions: "Sequence[str]",
    subset: "QuestionSubset",
    print_metrics: "_PrintResults",
) -> None:
    """Evaluate the models; then print the errors of tasks not evaluated, and raise the last."""
    from bench_assets.asset_factory.question_subset import WHOLE
    from bench_assets.workspace.evaluate.subset import (
        evaluate_suite_subsets,
        without_needless_limit,
    )

    runs = _check_runs(bench, suites, conditions)
    save_models(bench.resolved, bench.settings)
    subset = without_needless_limit(bench, suites, runs, subset)
    failures: list[BenchError] = []
    if subset != WHOLE:
        for suite, evaluations, errors in evaluate_suite_subsets(bench, suites, runs, subset):
            _print_partial(bench, suite, evaluations, print_metrics)
            failures += errors
    else:
        for suite in suites:
            failures += _evaluate_whole(bench, suite, runs, print_metrics)
    raise_last(failures)


def _check_runs(
    bench: "Workbench", suites: "Sequence[str]", conditions: "Sequence[str]"
) -> list[tuple[str, str]]:
    """Validate the names of an evaluation; returns each model with each condition."""
    from bench_assets.workspace.materialization.opening import check_names

    names = [model.name for model in bench.resolved]
    check_names(bench, suites, names, conditions)
    return list(itertools.product(names, conditions))


def _check_combination(option: str, value: object, ignored: "Mapping[str, object]") -> None:
    """Refuse options that ``option``, if it is given, would silently ignore."""
    if conflicts := [name for name, ignored_value in ignored.items() if value and ignored_value]:
        raise typer.BadParameter(f"{option} cannot be combined with {conflicts[0]}")


def _print_estimates(
    bench: "Workbench",
    suites: "Sequence[str]",
    conditions: "Sequence[str]",
    subset: "QuestionSubset",
    *,
    as_json: bool,
) -> None:
    """Print requests, time and cost of each run; builds missing questions."""
    from bench_assets.workspace.evaluate.dry_run import build_missing_questions, dry_run
    from bench_assets.workspace.evaluate.subset import check_categories

    runs = _check_runs(bench, suites, conditions)
    build_missing_questions(bench, suites)
    check_categories(bench, suites, runs, subset)
    estimates = [
        row for model, condition in runs for row in dry_run(bench, suites, model, condition, subset)
    ]
    print_rows(estimates, as_json=as_json)


def _print_partial(
    bench: "Workbench",
    suite: str,
    evaluations: "Sequence[Evaluation]",
    print_metrics: "_PrintResults",
) -> None:
    from bench_assets.workspace.materialization.backfill import rejection_messages

    conditions = dict.fromkeys(evaluation.condition for evaluation in evaluations)
    for sentence in rejection_messages(bench, suite, conditions):
        print_message(sentence)
    rows = [row for evaluation in evaluations for row in evaluation.metrics]
    print_metrics(bench.results(rows), rows)


def _evaluate_whole(
    bench: "Workbench",
    suite: str,
    runs: "Sequence[tuple[str, str]]",
    print_metrics: "_PrintResults",
) -> "Sequence[BenchError]":
    """Evaluate a suite, and print its metrics; returns errors of tasks not evaluated."""
    from bench_assets.workspace.evaluate.whole import evaluate_suite

    evaluation = evaluate_suite(bench, suite, runs)
    for sentence in (*evaluation.rejected, *evaluation.outcomes):
        print_message(sentence)
    print_metrics(bench.results(evaluation.metrics), evaluation.metrics)
    return evaluation.failures


def _backfill(
    bench: "Workbench", suites: "Sequence[str]", conditions: "Sequence[str]", *, as_json: bool
) -> None:
    """Evaluate in one run per model and condition; then exit, with 1 if one of them failed."""
    from bench_assets.workspace.materialization.backfill import backfill as evaluate_all
    from bench_assets.workspace.materialization.opening import check_names

    names = [model.name for model in bench.resolved]
    check_names(bench, suites, names)
    save_models(bench.resolved, bench.settings)
    outcomes = []
    for outcome in evaluate_all(bench, names, suites, conditions):
        print_message(
            f"{outcome.model}, {outcome.condition}: {outcome.error or 'done'}"
            f" ({outcome.seconds:g} s)"
        )
        outcomes.append(outcome)
    bench.refresh_leaderboard()
    print_rows(outcomes, as_json=as_json)
    raise typer.Exit(any(outcome.error for outcome in outcomes))


def _evaluate_responses(
    suite: str,
    file: Path,
    open_bench: "Callable[..., AbstractContextManager[Workbench]]",
    print_metrics: "_PrintResults",
) -> None:
    """Evaluate existing responses as those of recorded models; opens the home for each."""
    from bench_assets.workspace.evaluate.recorded_responses import (
        match_responses,
        read_recorded_files,
        require_matches,
    )

    with open_settings() as settings:
        recorded_files = read_recorded_files(file, settings)
    all_matches: list[MatchedResponses] = []
    failures: list[BenchError] = []
    for recorded in recorded_files:
        with open_bench(sections=recorded.sections) as bench:
            from bench_assets.workspace.materialization.opening import check_names

            check_names(bench, [suite], [recorded.model], recorded.conditions)
            bench.refresh_questions(suite)
            tasks = [task for task in bench.catalog.tasks_of(suite) if task.asked_of == "model"]
            matches = list(match_responses(bench, tasks, recorded))
            all_matches += matches
            for match in matches:
                if match.report.n_used:
                    failures += _evaluate_recorded(bench, match, print_metrics)
    with error_reporting():
        require_matches(file, suite, all_matches)
        raise_last(failures)


def _evaluate_recorded(
    bench: "Workbench", matched: "MatchedResponses", print_metrics: "_PrintResults"
) -> "Sequence[BenchError]":
    """Evaluate and print one model's responses to a task; PARTIAL if some questions have none."""
    from bench_assets.workspace.evaluate.subset import evaluate_answered

    recorded, task, condition = matched.recorded, matched.task, matched.condition
    save_models([recorded.resolved], bench.settings)
    print_message(str(matched))
    if not matched.report.missing:
        return _evaluate_whole(bench, task.name, [(recorded.model, condition)], print_metrics)
    n_answered = matched.n_questions - len(matched.report.missing)
    evaluation = evaluate_answered(bench, task, recorded.model, condition, n_answered)
    _print_partial(bench, task.name, [evaluation], print_metrics)
    return []
