"""``bench ui``: the Dagster UI over the home folder."""

from typing import Annotated

import typer

from bench_assets.bench.command import opened, told
from bench_assets.bench.printing import say, tell

app = typer.Typer()


@app.command()
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
    from bench_assets.bench.reporting import shown_beside
    from bench_assets.bench.services import add_every_model
    from bench_assets.bench.serving import Served, require_free
    from resources.settings.environment import default_home

    with told():
        require_free(port)
    with opened() as bench:
        n_models = add_every_model(bench)
        home = bench.settings.home
    with told(), shown_beside(home / "report") as where, Served(default_home(), port) as served:
        say(f"Home: {home}, {n_models} models\nDagster's own words: {served.log}\n{where}")
        say("Starting ...")
        served.wait_for_answer()
        say("Ctrl-C ends it.")
        tell(served.address)
        if browse:
            served.browse()
        served.wait_for_end()
