"""``bench tables``: tables of the graph and of the papers, expectations, differences."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import open_home, raise_last
from bench_assets.cli.app.options import JsonOption, SourceOption, SuiteName
from bench_assets.comparison import gate
from bench_assets.core.schema.errors import TableError
from bench_assets.workspace.console.output import print_message, print_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench_assets.comparison.difference import Cause
    from bench_assets.comparison.verdicts import Comparison
    from bench_assets.workspace.inspect.explanation import EvaluationPair
    from bench_assets.workspace.materialization.workbench import Workbench
    from bench_resources.config.sources_toml import SourceRule

EvaluationArgument = Annotated[
    str, typer.Argument(help="Model, condition, or Parquet file of metrics.")
]

app = typer.Typer(no_args_is_help=True, help="List, print, compare and check tables.")


@app.command("show")
def table(
    name: Annotated[str, typer.Argument(help="Table, as `bench tables list` prints it.")],
    model: Annotated[str, typer.Option(help="Rows of this model only.")] = "",
    source: SourceOption = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Print a table of the graph.

    Example: bench tables show codis/rejections
    """
    from bench_assets.workspace.inspect.leaderboard import present_leaderboard

    rule: SourceRule = "bench.toml" if name == "leaderboard" else "evaluated last"
    with open_home(name.partition("/")[0] if source else "", source, rule=rule) as bench:
        rows = present_leaderboard(bench) if name == "leaderboard" else bench.rows(name, model)
        if name == "leaderboard" and model:
            rows = [row for row in rows if row.model == model]
        print_rows(rows, as_json=as_json)


@app.command("list")
def tables(
    below: Annotated[str, typer.Argument(help="Suite or task. Default: all.")] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """List the tables of the graph, with their number of models.

    Example: bench tables list codis
    """
    from bench_assets.workspace.inspect.tables import list_tables

    with open_home() as bench:
        print_rows(list_tables(bench, below), as_json=as_json)


@app.command("paper")
def paper_table(
    suite: Annotated[str, typer.Argument(help="Suite. Default: all.")] = "",
    name: Annotated[str, typer.Argument(help="Table to make.")] = "",
    model: Annotated[str, typer.Option(help="Model, for a table of one model.")] = "",
    source: SourceOption = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """List the papers' other tables; with SUITE and NAME, make one and print it.

    Example: bench tables paper codis output_variability
    """
    from bench_assets.workspace.inspect.tables import list_paper_tables, make_paper_table, needs_of

    if not name:
        if model or source:
            raise typer.BadParameter("--model and --source need SUITE and NAME")
        with open_home() as bench:
            print_rows(list_paper_tables(bench, suite), as_json=as_json)
        return
    with open_home(suite, source) as bench:
        asset = make_paper_table(bench, suite, name, model)
        rows = bench.rows(asset, model)
        print_rows(rows, as_json=as_json)
        if not rows:
            print_message(f"{asset}: no rows; it needs {needs_of(bench, asset)}")
    raise typer.Exit(not rows)


@app.command()
def questions(suite: SuiteName, source: SourceOption = "", *, as_json: JsonOption = False) -> None:
    """Print a suite's question table, built from its source.

    Example: bench tables questions codis
    """
    from bench_assets.workspace.materialization.backfill import build_questions

    with open_home(suite, source) as bench:
        names, failures = build_questions(bench, suite)
        for task in bench.tasks_with_questions(names):
            print_rows(bench.questions(task), as_json=as_json)
        raise_last(failures)


@app.command("check")
def expectations(*, as_json: JsonOption = False) -> None:
    """Check every table with Great Expectations, and name stale numbers.

    Example: bench tables check
    """
    from bench_assets.defs.checks.expectations import validate_tables
    from bench_assets.workspace.inspect.stale_numbers import stale_numbers

    with open_home() as bench:
        rows = validate_tables(bench.catalog, bench.tables, print_message)
        failed = [row for row in rows if not row.passed]
        if as_json or failed:
            print_rows(rows if as_json else failed, as_json=as_json)
        n_tables, n_passed = len({row.table for row in rows}), len(rows) - len(failed)
        print_message(f"tables: {n_tables}; expectations that pass: {n_passed} of {len(rows)}")
        stale = list(stale_numbers(bench))
        for number in stale:
            print_message(str(number))
    raise typer.Exit(bool(failed or stale))


@app.command()
def accept(
    table: Annotated[str, typer.Argument(help="Suite, or a table of it.")],
    source: SourceOption = "",
) -> None:
    """Accept the present source of a suite once, although its files or tables lost rows.

    Example: bench tables accept codis
    """
    from bench_resources.datasets.source_state import accept_drift

    suite = table.partition("/")[0]
    with open_home(suite, source) as bench:
        user = accept_drift(bench.tables, suite, bench.settings)
        print_message(f"{suite}: accepted by {user}, for the source as it is now")


@app.command()
def diff(
    before: EvaluationArgument,
    after: EvaluationArgument,
    suite: Annotated[str, typer.Option(help="Suite or task. Default: all that both have.")] = "",
    model: Annotated[str, typer.Option(help="Model whose conditions are compared.")] = "",
    condition: Annotated[str, typer.Option(help="Condition of the compared models.")] = "main",
    metric: Annotated[str, typer.Option(help="Metric. Default: each task's primary metric.")] = "",
    source: SourceOption = "",
    fail_on: Annotated[
        gate.FailOn | None,
        typer.Option(help="Exit with code 3 if a task is worse, or (undecided) not better."),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write the verdicts as JUnit XML to this file.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Append the verdicts as Markdown to this file.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Compare two evaluations, and split the difference by cause: questions, prompt, model, judge.

    With --json, the first line of a task has its verdict, with interval and p.

    Example: bench tables diff model-a model-b --suite codis --fail-on worse
    """
    from bench_assets.comparison.verdicts import decide
    from bench_assets.workspace.inspect.explanation import compare_evaluations

    if source and not suite:
        raise typer.BadParameter("--source needs --suite")
    left_out: list[TableError] = []
    with open_home(suite, source) as bench:
        filters = {"suite": suite, "model": model, "condition": condition, "metric": metric}
        causes: dict[str, Sequence[Cause]] = {}  # by task
        effects: dict[str, Comparison] = {}  # of the tasks with scores on both sides
        for pair in compare_evaluations(bench, before, after, **filters, left_out=left_out):
            causes[pair.task.name] = pair.causes
            if effect := pair.effect:
                effects[pair.task.name] = effect
            if not as_json:
                _print_pair(bench, pair, before, after)
        verdicts = decide(effects.values())
        if as_json:
            _print_causes(causes, dict(zip(effects, verdicts, strict=True)))
        elif not metric:
            _print_verdicts(before, after, verdicts)
        for reason in left_out:
            print_message(f"left out: {reason}")
        failed = gate.close_gate(before, after, verdicts, fail_on, junit, summary)
    raise typer.Exit(gate.EXIT_CODE if failed else bool(left_out))


def _print_pair(bench: "Workbench", pair: "EvaluationPair", before: str, after: str) -> None:
    """Print the difference on a task, and its correction if people checked both models."""
    from bench_assets.cli.output.explanations import print_difference
    from bench_assets.comparison.people_checks import corrected_difference
    from bench_assets.workspace.console.output import print_result

    print_difference(pair)
    if correction := corrected_difference(bench.tables, pair.task, before, after):
        print_result(correction)


def _print_verdicts(before: str, after: str, verdicts: "Sequence[Comparison]") -> None:
    """Print the sentence, and the commands that allow a verdict where there is none."""
    from bench_assets.comparison.verdicts import comparison_sentence
    from bench_assets.workspace.console.output import print_result, print_sentence

    if verdicts:
        print_result("")
        print_sentence(comparison_sentence(before, after, verdicts))
    for remedy in filter(None, dict.fromkeys(row.remedy for row in verdicts)):
        print_message(f"for a verdict: {remedy}")


def _print_causes(
    causes: "Mapping[str, Sequence[Cause]]", verdicts: "Mapping[str, Comparison]"
) -> None:
    """Print the causes of each task as JSON lines, the first with the verdict if there is one."""
    from bench_assets.core.tables.arrow import to_json
    from bench_assets.workspace.console.output import print_json_result

    for task, (total, *others) in causes.items():
        verdict = gate.as_record(verdicts[task]) if task in verdicts else {}
        print_json_result(to_json(total) | verdict)
        for cause in others:
            print_json_result(to_json(cause))
