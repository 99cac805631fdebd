"""The command ``bench report``.

``bench ui``: the Dagster UI over the home folder.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import opened, told
from bench_assets.report.site.addresses import PORT
from bench_assets.workspace.console.output import say, tell

if TYPE_CHECKING:
    from collections.abc import Collection

    from bench_assets.workspace.materialization.workbench import Workbench


app = typer.Typer()


@app.command()
def report(
    port: Annotated[int, typer.Option(help="Port of --serve on 127.0.0.1; 0: any.")] = PORT,
    archive: Annotated[
        Path | None, typer.Option("--zip", help="Also pack the report into a file, to send it.")
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
    from bench_assets.workspace.inspect.report import pack, server, show_until_interrupted

    with opened() as bench:
        left_out = [bench.catalog.suite(name).name for name in without_images or ()]
        serving = server(bench.settings.home / "report", port) if serve else None  # or says why not
        page = make_report(
            *(bench.settings, bench.tables, bench.catalog, present_leaderboard(bench), say),
            without_images=left_out,
        )
        _warn_of_licences(bench, left_out)
        tell(str(page))
        if archive:
            pack(page.parent, archive)
            say(f"packed: {archive}")
        address = page.as_uri()
        if serving:
            address = f"http://127.0.0.1:{serving.server_port}/"
            say(f"Ctrl-C ends it: {address}")
        if in_browser:
            typer.launch(address)
        if serving:
            show_until_interrupted(serving)


def _warn_of_licences(bench: "Workbench", left_out: "Collection[str]") -> None:
    """Say which suites' data lie in the report and may not be passed on."""
    from bench_assets.report.site.images import not_to_be_passed_on

    for name in not_to_be_passed_on(bench.tables, bench.catalog):
        if name not in left_out:
            say(
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
    from bench_assets.workspace.inspect.report import shown_beside
    from bench_assets.workspace.materialization.dagster_processes import (
        UiProcess,
        add_every_model,
        require_free,
    )
    from resources.config.environment import default_home

    with told():
        require_free(port)
    with opened() as bench:
        n_models = add_every_model(bench)
        home = bench.settings.home
    with told(), shown_beside(home / "report") as where, UiProcess(default_home(), port) as served:
        say(f"Home: {home}, {n_models} models\nDagster's own words: {served.log}\n{where}")
        say("Starting ...")
        served.wait_for_answer()
        say("Ctrl-C ends it.")
        tell(served.address)
        if browse:
            served.browse()
        served.wait_for_end()
