"""``bench people server``: a Label Studio over the home folder, for this machine alone."""

from typing import Annotated

import typer

from bench_assets.bench.command import told
from bench_assets.bench.printing import say, tell

app = typer.Typer()


@app.command()
def server(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = 8081,
) -> None:
    """Start a Label Studio on 127.0.0.1, for the forms that bench.toml asks.

    make people-server installs it, into an environment of its own. Its data base lies in the home
    folder. What the variable holds that token_env names becomes the token of its first account.
    """
    from bench_assets.bench.people_server import LabelStudioServed
    from bench_assets.bench.serving import require_free
    from resources.people.label_studio.client import LabelStudio
    from resources.people.label_studio.server import ADMIN, program
    from resources.settings.bench_toml import load_settings
    from resources.settings.environment import default_home, label_studio_environment, secret

    with told():
        home = default_home()
        token = secret(load_settings(home).people.token_env or "LABEL_STUDIO_TOKEN")
        label_studio = program(label_studio_environment())
        require_free(port)
        with LabelStudioServed(home, port, token, label_studio) as served:
            say(f"Its words: {served.log}\nStarting, the first time for half a minute ...")
            served.wait_for_answer()
            LabelStudio(served.address, token).accounts()  # a data base may know another token
            say(f"Sign in as {ADMIN}; the password is in {served.folder / 'password'}.")
            say("Ctrl-C ends it.")
            tell(served.address)
            served.wait_for_end()
