"""The ``bench`` command: a thin face over the same assets and functions as the UI."""

import itertools
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from bench_assets.bench import init
from bench_assets.bench.cli_home import app as home_app
from bench_assets.bench.command import check_all, check_sections, opened, told
from bench_assets.bench.options import (
    JsonOption,
    JudgeOption,
    ReadingOption,
    SourceOption,
    SuiteName,
)
from bench_assets.bench.printing import METRIC_COLUMNS, print_leaderboard, print_rows, say

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Build, ask, judge, score and trace five vision-language benchmarks.",
)
app.add_typer(home_app)
app.add_typer(init.app, name="init")


@app.command()
def demo() -> None:
    """Build every suite's mini edition, evaluate the embedded models, print the leaderboard."""
    from resources.settings.model_specs import DEMO_SUITES, EMBEDDED_MODELS

    with opened() as bench:
        suites = bench.catalog.names
        for suite in suites:
            bench.refresh_questions(suite)
        for model in EMBEDDED_MODELS:
            bench.evaluate(DEMO_SUITES.get(model, suites), model)
        for task in bench.catalog.tasks:
            if task.asked_of == "encoder":
                bench.evaluate([task.name], "random")
        bench.refresh_leaderboard()
        print_leaderboard(bench.rows("leaderboard"), as_json=False)
        say(f"\nTables (Parquet): {bench.tables.folder}\nThe same in the Dagster UI: make ui")


@app.command()
def ui(port: Annotated[int, typer.Option(help="Port on 127.0.0.1.")] = 3000) -> None:
    """Open the Dagster UI on 127.0.0.1, with every model of bench.toml as a partition."""
    from resources.settings.bench_toml import CHECKOUT, default_home
    from resources.settings.model_specs import EMBEDDED_MODELS

    home = default_home()
    with opened() as bench:
        bench.add_models([*EMBEDDED_MODELS, *bench.settings.models])
        bench.add_encoders()
    environment = {**os.environ, "DAGSTER_HOME": str(home / "dagster"), "BENCH_HOME": str(home)}
    arguments = ["dagster", "dev", "-w", "workspace.yaml", "-h", "127.0.0.1", "-p", str(port)]
    os.chdir(CHECKOUT)
    os.execve(Path(sys.executable).parent / "dagster", arguments, environment)


@app.command()
def models(
    check: Annotated[
        list[str] | None, typer.Option(help="A model to load and try out; may be repeated.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """List the models that can be evaluated or can judge; or load some, and ask them six probes."""
    from resources.settings.bench_toml import default_home, load_settings
    from resources.settings.model_specs import listed

    with told():
        settings = load_settings(default_home())
        check_sections(settings)
        if check:
            raise typer.Exit(not check_all(check, settings, as_json=as_json))
        print_rows(listed(settings.models), as_json=as_json)


@app.command()
def questions(
    suite: SuiteName, source: SourceOption = None, *, as_json: JsonOption = False
) -> None:
    """Print a suite's question table, built from its source."""
    with opened(suite, source, scratch=source is not None) as bench:
        bench.refresh_questions(suite)
        for task in bench.catalog.tasks_of(suite):
            print_rows(bench.questions(task), as_json=as_json)


@app.command()
def evaluate(
    suite: SuiteName,
    model: Annotated[list[str], typer.Option(help="A model of bench.toml; may be repeated.")],
    condition: Annotated[
        list[str] | None, typer.Option(help="main or an ablation; may be repeated.")
    ] = None,
    source: SourceOption = None,
    judge: JudgeOption = "",
    reading: ReadingOption = "",
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what it would ask, take and cost.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Ask, judge, score and measure models; what was asked before is not asked again."""
    with opened(suite, source, judge=judge, reading=reading) as bench:
        askings = list(itertools.product(model, condition or ["main"]))
        if dry_run:
            from bench_assets.bench.dry_run import dry_run as estimate

            estimates = [
                row for name, one in askings for row in estimate(bench, [suite], name, one)
            ]
            print_rows(estimates, as_json=as_json)
            return
        from bench_assets.bench.one_by_one import refresh_each, without_points

        names, failures = refresh_each(bench, suite)
        metrics = []
        for name, one in askings:
            bench.evaluate(names, name, one)
            metrics += [row for part in names for row in bench.metrics(part, name, one)]
        print_rows(metrics, as_json=as_json, columns=METRIC_COLUMNS)
        for part, (name, one) in itertools.product(names, askings):
            for sentence in without_points(bench, part, name, one):
                say(sentence)
        if failures:
            raise failures[0]


@app.command()
def backfill(
    model: Annotated[list[str], typer.Option(help="A model of bench.toml; may be repeated.")],
    suite: Annotated[
        list[str] | None, typer.Option(help="A suite or task; may be repeated; all without it.")
    ] = None,
    condition: Annotated[
        list[str] | None, typer.Option(help="main or an ablation; may be repeated.")
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Evaluate many models, one run each; one that cannot be asked does not stop the others."""
    from bench_assets.bench.backfill import backfill as evaluate_all

    with opened() as bench:
        done = []
        for one in evaluate_all(bench, model, suite or (), condition or ("main",)):
            say(f"{one.model}, {one.condition}: {one.error or 'done'} ({one.seconds:g} s)")
            done.append(one)
        bench.refresh_leaderboard()
        print_rows(done, as_json=as_json)
    raise typer.Exit(any(one.error for one in done))


@app.command()
def score(
    suite: SuiteName,
    replies: Annotated[Path, typer.Argument(help="JSON lines with question_id and text.")],
    source: SourceOption = None,
    judge: JudgeOption = "",
    reading: ReadingOption = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Score replies that were made elsewhere; nothing is asked but the judge.

    The judge "recorded" takes its replies from the field judge_reply of the same file.
    """
    from bench_assets.bench.elsewhere import (
        by_model_and_condition,
        fit_message,
        measured_beside,
        opened_judge,
        require_some,
        score_replies,
    )
    from resources.models.recorded import read_replies

    with opened(suite, source, judge=judge, reading=reading, scratch=True) as bench:
        recorded = read_replies(replies)
        bench.refresh_questions(suite)
        done = []
        for task in bench.catalog.tasks_of(suite):
            for part in by_model_and_condition(recorded, nameless=replies.stem):
                asked = bench.questions(task, part[0].condition)
                with opened_judge(bench, task, part, replies) as judging:
                    scored = score_replies(task, asked, part, judging, reading)
                say(fit_message(replies, scored, len(asked)))
                metrics = [*scored.metrics, *measured_beside(bench, task, asked, part)]
                print_rows(metrics, as_json=as_json, columns=METRIC_COLUMNS)
                done.append(scored)
        require_some(replies, suite, done)


@app.command()
def leaderboard(*, as_json: JsonOption = False) -> None:
    """Print the leaderboard: what was measured here, and what the papers published."""
    from bench_assets.bench.standings import present_leaderboard

    with opened() as bench:
        print_leaderboard(present_leaderboard(bench), as_json=as_json)
