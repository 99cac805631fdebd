"""``bench ui``: the Dagster UI, or its web server, daemon and code server separately."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bench_assets.cli.app.command_context import error_reporting, open_home, open_settings
from bench_assets.core.schema.errors import HomeError, SettingsError
from bench_assets.workspace.console.output import print_message, print_result
from bench_resources.config.addresses import is_loopback
from bench_resources.config.environment import default_home

if TYPE_CHECKING:
    from bench_assets.workspace.materialization.dagster_processes import Service

app = typer.Typer()

_WEB_PORT, _CODE_PORT = 3000, 4000

HostOption = Annotated[str, typer.Option(help="Address to listen on.")]
PortOption = Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")]
CodeOption = Annotated[
    str,
    typer.Option(
        "--code",
        metavar="HOST:PORT",
        help="Address of a running `bench ui code`. Default: start a code server.",
    ),
]


@app.callback(invoke_without_command=True)
def ui(
    context: typer.Context,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on 127.0.0.1.")] = _WEB_PORT,
    *,
    browse: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Serve the Dagster UI on 127.0.0.1, with every model of bench.toml as a partition.

    The report is served beside it; checks link to it.
    New models in bench.toml become partitions within a minute.
    A process that ends or hangs is restarted. Runs continue after the command ends.
    web, daemon and code run its three processes separately (docs/cluster.md).

    Example: bench ui --open
    """
    if context.invoked_subcommand:
        if browse or port != _WEB_PORT:
            raise typer.BadParameter(
                f"--open, --port: give options of {context.invoked_subcommand} after its name"
            )
        return
    import webbrowser

    from bench_assets.workspace.inspect.report_server import report_maker, serve_live
    from bench_assets.workspace.materialization.dagster_processes import (
        add_every_model,
        require_free,
    )
    from bench_assets.workspace.materialization.supervisor import supervise_ui

    with error_reporting():
        require_free(port)
    with open_home(rule="bench.toml") as bench:
        n_models = add_every_model(bench)
        home = bench.settings.home
        with (
            serve_live(home, report_maker(bench)) as report,
            supervise_ui(default_home(), port) as supervisor,
        ):
            print_message(f"Home: {home}, {n_models} models")
            print_message(f"Dagster's log: {home / 'dagster' / 'ui.log'}")
            print_message(f"The report: {report}\nStarting ...")
            supervisor.start()
            print_message("Press Ctrl-C to stop; runs in progress go on.")
            address = f"http://127.0.0.1:{port}"
            print_result(address)
            if browse:
                webbrowser.open(address)
            supervisor.supervise()


@app.command()
def web(
    host: HostOption = "127.0.0.1", port: PortOption = _WEB_PORT, code: CodeOption = ""
) -> None:
    """Serve the web UI. It has no login: put a proxy in front (docs/cluster.md).

    Example: bench ui web --code 127.0.0.1:4000
    """
    from bench_assets.workspace.materialization.dagster_processes import Web, add_every_model

    _warn_if_exposed(host, port, "start runs and read every response")
    with open_home(rule="bench.toml") as bench:
        add_every_model(bench)
        home = bench.settings.home
    with error_reporting():
        _serve(Web(home, host=host, port=port, code=_validate_code_address(code)))


@app.command()
def daemon(code: CodeOption = "") -> None:
    """Run the daemon: sensors, the run queue, orphaned runs. A second daemon waits.

    Example: bench ui daemon --code 127.0.0.1:4000
    """
    from bench_assets.workspace.materialization.dagster_processes import Daemon
    from bench_resources.config.stores import open_table_locks

    with open_settings() as settings:
        address = _validate_code_address(code)
        _make_instance_ready()
        with open_table_locks(settings).held(["the daemon"], print_message):
            _serve(Daemon(settings.home, host="127.0.0.1", port=0, code=address))


@app.command(name="code")
def code_server(host: HostOption = "127.0.0.1", port: PortOption = _CODE_PORT) -> None:
    """Serve the code location to the web server and the daemon; start local runs.

    Example: bench ui code
    """
    from bench_assets.workspace.materialization.dagster_processes import CodeServer

    _warn_if_exposed(host, port, "run any code as this user")
    with error_reporting():
        _make_instance_ready()
        _serve(CodeServer(default_home(), host=host, port=port))


@app.command()
def health(
    service: Annotated[Literal["web", "daemon", "code"], typer.Argument(help="Service.")],
    host: Annotated[
        str, typer.Option(help="Address that web or code listens on. Default: 127.0.0.1.")
    ] = "",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of web or code; 0: its default.")
    ] = 0,
) -> None:
    """Check that a service is healthy: exit code 0 or 1.

    Example: bench ui health web
    """
    if service == "daemon" and (host or port):
        raise typer.BadParameter("--host and --port: the daemon does not listen. Leave them out")
    with error_reporting():
        from bench_assets.workspace.materialization import dagster_processes as processes

        service_class, default_port = {
            "web": (processes.Web, _WEB_PORT),
            "daemon": (processes.Daemon, 0),
            "code": (processes.CodeServer, _CODE_PORT),
        }[service]
        checked = service_class(default_home(), host=host or "127.0.0.1", port=port or default_port)
        if not checked.is_healthy():
            problem = "not healthy (no answer, or a failed health check). Restart it"
            raise HomeError(f"bench ui {service}: {problem}")
        print_result(f"bench ui {service} is healthy")


def _serve(service: "Service") -> None:
    from bench_assets.workspace.materialization.dagster_processes import require_free
    from bench_assets.workspace.materialization.supervisor import Supervisor

    if service.port:
        require_free(service.port, service.host)
    with Supervisor([service]) as supervisor:
        supervisor.start()
        supervisor.wait_until_ready()
        address = f": {service.address}" if service.address else ""
        print_message(f"{service.label} is ready{address}")
        supervisor.supervise()


def _make_instance_ready() -> None:
    """Create the databases of the Dagster instance, and end its orphaned runs."""
    from bench_assets.workspace.materialization.dagster_instance import open_instance

    open_instance(default_home()).dispose()


def _validate_code_address(code: str) -> str:
    """Return the address of a code server, or "", unchanged; refuse any other text."""
    host, colon, port = code.rpartition(":")
    if code and not (colon and host and port.isdigit() and 0 < int(port) < 65536):
        raise SettingsError(f"--code {code}: expected HOST:PORT, such as 127.0.0.1:4000")
    return code


def _warn_if_exposed(host: str, port: int, permitted: str) -> None:
    if not is_loopback(host):
        print_message(
            f"warning: port {port} of {host} has no login: anyone who can reach it can {permitted}."
            " Allow access only through a proxy with a login (docs/cluster.md)"
        )
