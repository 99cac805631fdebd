"""The command ``bench report``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.bench.command import opened
from bench_assets.bench.printing import say, tell
from bench_assets.report.addresses import PORT

if TYPE_CHECKING:
    from collections.abc import Collection

    from bench_assets.bench.workbench import Workbench

app = typer.Typer()


@app.command()
def report(
    port: Annotated[int, typer.Option(help="Port of --serve on 127.0.0.1; 0: any.")] = PORT,
    archive: Annotated[
        Path | None, typer.Option("--zip", help="Also pack the report into a file, to send it.")
    ] = None,
    without_pictures: Annotated[
        list[str] | None,
        typer.Option(metavar="SUITE", help="Leave a suite's pictures out; may be repeated."),
    ] = None,
    *,
    serve: Annotated[
        bool, typer.Option("--serve", help="Show it on 127.0.0.1 until Ctrl-C.")
    ] = False,
    in_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Make the report: a site in the home folder that opens from disk, without a server."""
    from bench_assets.bench.reporting import pack, server, show_until_interrupted
    from bench_assets.bench.standings import present_leaderboard
    from bench_assets.report.building import make_report

    with opened() as bench:
        left_out = [bench.catalog.suite(name).name for name in without_pictures or ()]
        serving = server(bench.settings.home / "report", port) if serve else None  # or says why not
        page = make_report(
            *(bench.settings, bench.tables, bench.catalog, present_leaderboard(bench), say),
            without_pictures=left_out,
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
    from bench_assets.report.licences import not_to_be_passed_on

    for name in not_to_be_passed_on(bench.tables, bench.catalog):
        if name not in left_out:
            say(
                f"{name}: its licence lets nobody pass its data on; before you send the report:"
                f" --without-pictures {name}"
            )
