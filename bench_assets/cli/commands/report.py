"""``bench report``: the HTML report of a home folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import open_home
from bench_assets.report.site.addresses import PORT
from bench_assets.workspace.console.output import print_message, print_result

if TYPE_CHECKING:
    from collections.abc import Collection

    from bench_assets.workspace.materialization.workbench import Workbench


app = typer.Typer()


@app.command()
def report(
    port: Annotated[
        int, typer.Option(help="Port of --serve on 127.0.0.1; 0: any free port.")
    ] = PORT,
    archive: Annotated[
        Path | None,
        typer.Option("--zip", help="Also pack the report into a file."),
    ] = None,
    without_images: Annotated[
        list[str] | None,
        typer.Option(metavar="SUITE", help="Leave out a suite's images; repeatable."),
    ] = None,
    *,
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it on 127.0.0.1 until Ctrl-C.")
    ] = False,
    in_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Build the HTML report of the home folder; it opens from disk, without a server.

    Example: bench report --serve --open
    """
    from bench_assets.report.building import make_report
    from bench_assets.workspace.inspect.leaderboard import present_leaderboard
    from bench_assets.workspace.inspect.report_server import (
        open_server,
        pack_report,
        serve_until_interrupted,
    )

    with open_home() as bench:
        left_out = [bench.catalog.suite(name).name for name in without_images or ()]
        # or says why not
        serving = open_server(bench.settings.home / "report", port) if serve else None
        page = make_report(
            *(
                bench.settings,
                bench.tables,
                bench.catalog,
                present_leaderboard(bench),
                print_message,
            ),
            without_images=left_out,
        )
        _warn_about_licences(bench, left_out)
        print_result(str(page))
        if archive:
            pack_report(page.parent, archive)
            print_message(f"packed: {archive}")
        address = page.as_uri()
        if serving:
            address = f"http://127.0.0.1:{serving.server_port}/"
            print_message(f"Press Ctrl-C to stop: {address}")
        if in_browser:
            typer.launch(address)
        if serving:
            serve_until_interrupted(serving)


def _warn_about_licences(bench: "Workbench", left_out: "Collection[str]") -> None:
    """Warn of suites in the report whose data may not be passed on."""
    from bench_assets.report.site.images import not_to_be_passed_on

    for name in not_to_be_passed_on(bench.tables, bench.catalog):
        if name not in left_out:
            print_message(
                f"{name}: its licence forbids passing its data on. Before you share the report, use"
                f" --without-images {name}"
            )
