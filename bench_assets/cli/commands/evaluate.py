"""``bench evaluate``: models, or a file of responses."""

import itertools
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import error_reporting, open_home
from bench_assets.cli.app.options import (
    ConditionsOption,
    ElicitOption,
    JsonOption,
    JudgeOption,
    OptionalModelsOption,
    ReaderOption,
    ScorerOption,
    SourceOption,
)
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

    _Show = Callable[[Sequence[Result], Sequence[Metric]], None]

app = typer.Typer()


class Acceptable(StrEnum):
    """Outcomes that ``--accept`` allows in a result."""

    refused = "refused"
    mixed = "mixed"


AcceptOption = Annotated[
    list[Acceptable] | None,
    typer.Option(
        help="refused: requests that the provider refuses for good count as wrong; mixed: several"
        " models or snapshots may have answered. Part of the signature; repeatable.",
    ),
]
LimitOption = Annotated[
    int,
    typer.Option(
        min=0,
        help="Evaluate at most N questions per task, stratified by category. Results are marked"
        " PARTIAL, without a rank. 0: all.",
    ),
]
CategoryOption = Annotated[
    list[str] | None,
    typer.Option(help="Evaluate this category only, marked PARTIAL; repeatable."),
]


@app.command()
def evaluate(
    suites: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUITE]...",
            help="Suites or tasks, such as codis. Default: all.",
        ),
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
        typer.Option("--keep-going", help="One run per model; continue after a failure."),
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
    _check_arguments(
        of_one_suite=bool(source or judge or reader or scorer or responses),
        one_suite=bool(suite),
        asks=bool(model),
        elicits=elicit not in ("", GENERATE),
        parses=bool(scorer),
        scores=bool(responses),
    )
    parts = {"--limit": limit, "--category": category}
    request_options = {"--condition": condition, "--dry-run": dry_run, "--keep-going": keep_going}
    _check_combination("--keep-going", keep_going, parts)
    _check_combination("--responses", responses, {**parts, **request_options})
    accepted = [outcome.value for outcome in accept or ()]
    chosen = suite, source, judge, scorer
    open_one = partial(open_home, *chosen, reader=reader, accept=accepted, rule="stated")
    show = partial(print_results, as_json=as_json, all_metrics=all_metrics)
    if responses:
        _evaluate_responses(suite, responses, open_one, show)
        return
    with open_one(models=model or (), elicit=elicit) as bench:
        from bench_assets.asset_factory.question_subset import QuestionSubset

        part = QuestionSubset(limit=limit, categories=tuple(category or ()))
        of = (
            list(dict.fromkeys(suites)) or list(bench.catalog.evaluable.names),
            list(dict.fromkeys(condition or ["main"])),
        )
        if keep_going and not dry_run:
            _backfill(bench, of, as_json=as_json)
        elif dry_run:
            _print_estimates(bench, of, part, as_json=as_json)
        else:
            _ask(bench, of, part, show)


def _ask(
    bench: "Workbench",
    of: tuple["Sequence[str]", "Sequence[str]"],
    part: "QuestionSubset",
    show: "_Show",
) -> None:
    """Evaluate models on suites under conditions."""
    from bench_assets.asset_factory.question_subset import WHOLE
    from bench_assets.workspace.evaluate.subset import without_needless_limit

    suites, runs = _check_runs(bench, of)
    save_models(bench.resolved, bench.settings)
    part = without_needless_limit(bench, suites, runs, part)
    failures: list[BenchError] = []
    if part != WHOLE:
        failures += _evaluate_subsets(bench, suites, runs, part, show)
    else:
        for suite in suites:
            failures += _evaluate_whole(bench, suite, runs, show)
    for failure in failures[:-1]:
        print_message(f"error: {failure}")
    if failures:
        raise failures[-1]


def _check_runs(
    bench: "Workbench", of: tuple["Sequence[str]", "Sequence[str]"]
) -> tuple["Sequence[str]", list[tuple[str, str]]]:
    """The suites, and each model with each condition; all are known."""
    from bench_assets.workspace.materialization.opening import check_names

    suites, conditions = of
    names = [model.name for model in bench.resolved]
    check_names(bench, suites, names, conditions)
    return suites, list(itertools.product(names, conditions))


def _check_combination(option: str, value: object, others: "Mapping[str, object]") -> None:
    """Refuse options that another one would silently ignore."""
    if conflicts := [name for name, conflicting in others.items() if value and conflicting]:
        raise typer.BadParameter(f"{option} cannot be combined with {conflicts[0]}")


def _check_arguments(
    *, of_one_suite: bool, one_suite: bool, asks: bool, elicits: bool, parses: bool, scores: bool
) -> None:
    if of_one_suite and not one_suite:
        raise typer.BadParameter(
            "--source, --judge, --reader, --scorer and --responses need exactly one suite. Name it"
        )
    if asks == scores:
        raise typer.BadParameter("expected either --model or --responses")
    if elicits and scores:
        raise typer.BadParameter("--elicit needs --model, not --responses")
    if elicits and parses:
        raise typer.BadParameter(
            "--scorer parses response texts, which --elicit does not produce. Drop one"
        )


def _print_estimates(
    bench: "Workbench",
    of: tuple["Sequence[str]", "Sequence[str]"],
    part: "QuestionSubset",
    *,
    as_json: bool,
) -> None:
    from bench_assets.workspace.evaluate.dry_run import build_missing_questions, dry_run
    from bench_assets.workspace.evaluate.subset import check_categories

    suites, runs = _check_runs(bench, of)
    build_missing_questions(bench, suites)
    check_categories(bench, suites, runs, part)
    estimates = [
        row for name, condition in runs for row in dry_run(bench, suites, name, condition, part)
    ]
    print_rows(estimates, as_json=as_json)


def _evaluate_subsets(
    bench: "Workbench",
    suites: "Sequence[str]",
    runs: "Sequence[tuple[str, str]]",
    part: "QuestionSubset",
    show: "_Show",
) -> "Sequence[BenchError]":
    from bench_assets.workspace.evaluate.subset import evaluate_suite_subsets

    failures: list[BenchError] = []
    for suite, done, failed in evaluate_suite_subsets(bench, suites, runs, part):
        _print_partial(bench, suite, done, show)
        failures += failed
    return failures


def _print_partial(
    bench: "Workbench", suite: str, done: "Sequence[Evaluation]", show: "_Show"
) -> None:
    from bench_assets.workspace.materialization.backfill import rejection_messages

    for sentence in rejection_messages(
        bench, suite, dict.fromkeys(evaluation.condition for evaluation in done)
    ):
        print_message(sentence)
    rows = [row for evaluation in done for row in evaluation.metrics]
    show(bench.results(rows), rows)


def _evaluate_whole(
    bench: "Workbench", suite: str, runs: "Sequence[tuple[str, str]]", show: "_Show"
) -> "Sequence[BenchError]":
    from bench_assets.workspace.evaluate.whole import evaluate_suite

    done = evaluate_suite(bench, suite, runs)
    for sentence in (*done.rejected, *done.outcomes):
        print_message(sentence)
    show(bench.results(done.metrics), done.metrics)
    return done.failures


def _backfill(
    bench: "Workbench",
    of: tuple["Sequence[str]", "Sequence[str]"],
    *,
    as_json: bool,
) -> None:
    """Evaluate many models, one run each; continue after a failure."""
    from bench_assets.workspace.materialization.backfill import backfill as evaluate_all
    from bench_assets.workspace.materialization.opening import check_names

    suites, conditions = of
    names = [model.name for model in bench.resolved]
    check_names(bench, suites, names)
    save_models(bench.resolved, bench.settings)
    done = []
    for outcome in evaluate_all(bench, names, suites, conditions):
        print_message(
            f"{outcome.model}, {outcome.condition}: {outcome.error or 'done'}"
            f" ({outcome.seconds:g} s)"
        )
        done.append(outcome)
    bench.refresh_leaderboard()
    print_rows(done, as_json=as_json)
    raise typer.Exit(any(outcome.error for outcome in done))


def _evaluate_responses(
    suite: str,
    file: Path,
    open_one: "Callable[..., AbstractContextManager[Workbench]]",
    show: "_Show",
) -> None:
    """Evaluate existing responses as those of recorded models, in a home for each."""
    from bench_assets.workspace.evaluate.recorded_responses import (
        match_responses,
        read_recorded_files,
        require_matches,
    )
    from bench_resources.config.bench_toml import load_settings
    from bench_resources.config.environment import default_home

    with error_reporting():
        recorded_files = read_recorded_files(file, load_settings(default_home()))
    done: list[MatchedResponses] = []
    failures: list[BenchError] = []
    for recorded in recorded_files:
        with open_one(sections=recorded.sections) as bench:
            from bench_assets.workspace.materialization.opening import check_names

            check_names(bench, [suite], [recorded.model], recorded.conditions)
            bench.refresh_questions(suite)
            tasks = [task for task in bench.catalog.tasks_of(suite) if task.asked_of == "model"]
            matches = list(match_responses(bench, tasks, recorded))
            done += matches
            if recorded is recorded_files[-1]:
                require_matches(file, suite, done)
            for match in matches:
                if match.report.n_used:
                    failures += _evaluate_recorded(bench, match, show)
    for failure in failures:
        print_message(f"error: {failure}")
    if failures:
        raise typer.Exit(1)


def _evaluate_recorded(
    bench: "Workbench", matched: "MatchedResponses", show: "_Show"
) -> "Sequence[BenchError]":
    """Evaluate one model's responses to a task; PARTIAL if some questions have none."""
    from bench_assets.workspace.evaluate.subset import evaluate_answered

    recorded, task, condition = matched.recorded, matched.task, matched.condition
    save_models([recorded.resolved], bench.settings)
    print_message(str(matched))
    if not (n_missing := len(matched.report.missing)):
        return _evaluate_whole(bench, task.name, [(recorded.model, condition)], show)
    n_answered = matched.n_questions - n_missing
    done = evaluate_answered(bench, task, recorded.model, condition, n_answered)
    _print_partial(bench, task.name, [done], show)
    return []
