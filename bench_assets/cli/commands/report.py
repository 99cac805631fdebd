"""The command ``bench report``.

``bench ui``: the Dagster UI over the home folder.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import error_reporting, open_home
from bench_assets.report.site.addresses import PORT
from bench_assets.workspace.console.output import print_message, print_result

if TYPE_CHECKING:
    from collections.abc import Collection

    from bench_assets.workspace.materialization.workbench import Workbench


app = typer.Typer()


@app.command()
def report(
    port: Annotated[int, typer.Option(help="Port of --serve on 127.0.0.1; 0: any.")] = PORT,
    archive: Annotated[
        Path | None,
        typer.Option("--zip", help="Also pack_report the report into a file, to send it."),
    ] = None,
    without_images: Annotated[
        list[str] | None,
        typer.Option(metavar="SUITE", help="Leave a suite's images out; may be repeated."),
    ] = None,
    *,
    serve: Annotated[
        bool, typer.Option("--serve", help="Show it on 127.0.0.1 until Ctrl-C.")
    ] = False,
    in_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Make the report: a site in the home folder that opens from disk, without a server."""
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
            print_message(f"Ctrl-C ends it: {address}")
        if in_browser:
            typer.launch(address)
        if serving:
            serve_until_interrupted(serving)


def _warn_about_licences(bench: "Workbench", left_out: "Collection[str]") -> None:
    """Say which suites' data lie in the report and may not be passed on."""
    from bench_assets.report.site.images import not_to_be_passed_on

    for name in not_to_be_passed_on(bench.tables, bench.catalog):
        if name not in left_out:
            print_message(
                f"{name}: its licence lets nobody pass its data on; before you send the report:"
                f" --without-images {name}"
            )


ui_app = typer.Typer()


@ui_app.command()
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 3000,
    *,
    browse: Annotated[
        bool, typer.Option("--open", help="Open it in the browser when it answers.")
    ] = False,
) -> None:
    """Open the Dagster UI on 127.0.0.1, with every model of bench.toml as a partition.

    The report is shown beside it, where the links of checks lead.
    Models that are added to bench.toml while it runs become partitions within a minute.
    """
    from bench_assets.workspace.inspect.report_server import serve_in_background
    from bench_assets.workspace.materialization.dagster_processes import (
        UiProcess,
        add_every_model,
        require_free,
    )
    from resources.config.environment import default_home

    with error_reporting():
        require_free(port)
    with open_home() as bench:
        n_models = add_every_model(bench)
        home = bench.settings.home
    with (
        error_reporting(),
        serve_in_background(home / "report") as where,
        UiProcess(default_home(), port) as served,
    ):
        print_message(
            f"Home: {home}, {n_models} models\nDagster's own words: {served.log}\n{where}"
        )
        print_message("Starting ...")
        served.wait_for_answer()
        print_message("Ctrl-C ends it.")
        print_result(served.address)
        if browse:
            served.browse()
        served.wait_for_end()
