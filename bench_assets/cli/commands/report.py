"""``bench report``: the HTML report of a home folder."""

from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import open_home
from bench_assets.core.schema.errors import HomeError
from bench_assets.workspace.console.output import print_message, print_result

if TYPE_CHECKING:
    from collections.abc import Collection

    from bench_assets.workspace.materialization.workbench import Workbench


app = typer.Typer()


@app.command()
def report(
    port: Annotated[
        int | None,
        typer.Option(
            help="Port of --serve on 127.0.0.1; 0: any free port.",
            show_default="the last one, if it is free",
        ),
    ] = None,
    archive: Annotated[
        Path | None, typer.Option("--zip", help="Also pack the report into a file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Output folder. Default: report in the home.")
    ] = None,
    without_images: Annotated[
        list[str] | None,
        typer.Option(metavar="SUITE", help="Leave out a suite's images; repeatable."),
    ] = None,
    *,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it on 127.0.0.1 and keep it current.")
    ] = False,
    in_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Build the HTML report of the home folder; it opens from disk, without a server.

    Example: bench report --serve --open
    """
    from bench_assets.workspace.inspect.leaderboard import present_report
    from bench_assets.workspace.inspect.report_server import pack_report

    if out and serve:
        raise typer.BadParameter("--out cannot be combined with --serve")
    if port is not None and not serve:
        raise typer.BadParameter("--port needs --serve")
    with open_home(rule="bench.toml") as bench:  # it shows all sources
        left_out = [bench.catalog.suite(name).name for name in without_images or ()]
        if bench.is_read_only and not out:
            raise HomeError(f"{bench.settings.home}: read-only. Name a folder with --out")
        page = present_report(bench, left_out, out)
        _warn_about_licences(bench, left_out)
        print_result(str(page))
        if archive:
            pack_report(page.parent, archive)
            print_message(f"packed: {archive}")
        if serve:
            _serve(bench, left_out, port, in_browser=in_browser)
        elif in_browser:
            typer.launch(page.as_uri())


def _serve(
    bench: "Workbench", left_out: "Collection[str]", port: int | None, *, in_browser: bool
) -> None:
    from bench_assets.workspace.inspect.report_server import report_maker, serve_live

    with serve_live(bench.settings.home, report_maker(bench, left_out), port) as address:
        print_message(f"Press Ctrl-C to stop: {address}/")
        if in_browser:
            typer.launch(address)
        with suppress(KeyboardInterrupt):
            Event().wait()
    print_message("ended")


def _warn_about_licences(bench: "Workbench", left_out: "Collection[str]") -> None:
    from bench_assets.report.site.images import restricted_suites

    for name in restricted_suites(bench.tables, bench.catalog):
        if name not in left_out:
            print_message(
                f"{name}: its licence forbids sharing its data. --without-images {name} leaves out"
                " the images, but not the texts of questions"
            )
