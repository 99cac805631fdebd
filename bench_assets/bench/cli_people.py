"""``bench people``: what people are asked, and in what they answer."""

from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.bench.command import told
from bench_assets.bench.options import JsonOption
from bench_assets.bench.printing import print_rows, say, tell

if TYPE_CHECKING:
    from bench_assets.bench.people_links import Handed
    from resources.settings.bench_toml import Settings

app = typer.Typer(no_args_is_help=True, help="Ask people: pages in which they answer, and links.")

_DAYS = 30


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; only this machine reaches 127.0.0.1.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0: any that is free.")] = 8766,
) -> None:
    """Show the pages in which people answer, until Ctrl-C; asking and polling need it not."""
    from resources.people.pages.opening import setup_of
    from resources.people.pages.server import PORT, Served, is_loopback

    with told():
        settings = _settings()
        with Served(setup_of(settings), host, port) as served:
            if not is_loopback(host):
                say(
                    "warning: whoever reaches this machine reaches these pages, and may read what"
                    " goes over the network: put a proxy with TLS in front, and its address into"
                    f" {settings.file}: [people] url"
                )
            if port != PORT and not settings.people.url:
                say(f'For links to lead here: {settings.file}, [people], url = "{served.address}"')
            say("Links to hand out: bench people links --person NAME\nCtrl-C ends it.")
            tell(served.address)
            try:
                served.wait()
            except KeyboardInterrupt:
                say("ended")


@app.command()
def links(
    form: Annotated[
        list[str] | None,
        typer.Option(metavar="SUITE/FORM", help="Only for a form; may be repeated; all without."),
    ] = None,
    person: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A pseudonym, or an address that [people.names] gives one; may be repeated; all"
            " of [people.names] without.",
        ),
    ] = None,
    days: Annotated[float, typer.Option(min=0.01, help="How long it opens the pages.")] = _DAYS,
    revoke: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Void all links of a person; may be repeated."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Make links to hand out, one a person: who has it answers in that person's place."""
    from bench_assets.bench.people_links import make_links, revoke_links

    with told():
        settings = _settings()
        for name in revoke_links(settings, revoke or []):
            say(f"The links of {name} that were made so far open nothing any more.")
        if revoke and not person:
            return
        found: list[Handed] = make_links(settings, form or [], person or [], days)
        if as_json:
            print_rows(found, as_json=True)
        else:
            for one in found:
                tell(f"{one.person}  {one.link}")


def _settings() -> "Settings":
    from resources.settings.bench_toml import load_settings
    from resources.settings.environment import default_home

    return load_settings(default_home())
