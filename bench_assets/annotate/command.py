"""``bench annotate``: annotation tasks, their progress, links and servers."""

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from bench_assets.cli.app.command_context import open_home, open_settings
from bench_assets.cli.app.options import JsonOption
from bench_assets.workspace.console.output import print_message, print_result, print_rows

app = typer.Typer(
    name="annotate",
    no_args_is_help=True,
    help="Annotate with people: pages, links, progress, quality, Label Studio's files.",
)

_LINK_LIFETIME_DAYS = 30  # days that a link is valid, by default


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0: any free port.")] = 8766,
) -> None:
    """Serve the annotation pages until Ctrl-C.

    Example: bench annotate serve
    """
    from bench_resources.annotation.web.server import PORT, PagesServer, setup_of
    from bench_resources.config.addresses import is_loopback

    with open_settings() as settings, PagesServer(setup_of(settings), host, port) as server:
        if not is_loopback(host):
            print_message(
                f"warning: {host} is reachable from the network, without TLS. Put a TLS proxy"
                f" in front, and set its address in {settings.file}, [annotation] url"
            )
        if port != PORT and not settings.annotation.url:
            print_message(
                f"To create links to this address, set in {settings.file}, [annotation]:"
                f' url = "{server.address}"'
            )
        print_message("To create links: bench annotate links --person NAME\nPress Ctrl-C to stop.")
        print_result(server.address)
        try:
            server.wait()
        except KeyboardInterrupt:
            print_message("ended")


@app.command()
def links(
    task: Annotated[
        list[str] | None, typer.Option(metavar="SUITE/TASK", help="Task; repeatable. Default: all.")
    ] = None,
    person: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Pseudonym, or a name in `annotation.names`; repeatable. Default: all of"
            " `annotation.names`.",
        ),
    ] = None,
    days: Annotated[
        float, typer.Option(min=0.01, max=36_500, help="Validity of a link, in days.")
    ] = _LINK_LIFETIME_DAYS,
    revoke: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Revoke all links of a person; repeatable."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Create links to the annotation pages, one per annotator.

    Example: bench annotate links --person ada
    """
    from bench_assets.annotate.operations import make_links, revoke_links

    if revoke and not person and (task or days != _LINK_LIFETIME_DAYS or as_json):
        raise typer.BadParameter("beside --revoke, --task, --days and --json need --person")
    with open_settings() as settings:
        for name in revoke_links(settings, revoke or []):
            print_message(f"All earlier links of {name} are revoked.")
        if revoke and not person:
            return
        person_links = make_links(settings, task or [], person or [], days)
        if as_json:
            print_rows(person_links, as_json=True)
        else:
            for person_link in person_links:
                print_result(f"{person_link.person}  {person_link.link}")


TaskArgument = Annotated[
    str, typer.Argument(help="Task, such as codis/votes. Default: all active tasks.")
]
RequiredTaskArgument = Annotated[str, typer.Argument(help="Task, such as codis/votes.")]


@app.command()
def tasks(*, as_json: JsonOption = False) -> None:
    """List annotation tasks, and which of them bench.toml configures.

    Example: bench annotate tasks
    """
    from bench_assets.annotate.operations import list_tasks

    with open_home() as bench:
        print_rows(list_tasks(bench), as_json=as_json)


@app.command()
def ask(task: TaskArgument = "") -> None:
    """Publish new units, collect answers, and print progress.

    Example: bench annotate ask codis/votes
    """
    from bench_assets.annotate.operations import ask as ask_tasks
    from bench_assets.annotate.operations import progress

    with open_home(task) as bench:
        ask_tasks(bench, task)
        print_rows(progress(bench, task, datetime.now(UTC)), as_json=False)


@app.command()
def verdicts(
    task: Annotated[str, typer.Argument(help="Task, such as codis.")],
    n: Annotated[
        int, typer.Option("--n", min=1, help="Units of the metric, such as pairs of questions.")
    ] = 100,
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="Model whose responses people judge; repeatable. Default: all evaluated models."
        ),
    ] = None,
) -> None:
    """Draw responses that people judge, to correct scores by judges and of unread responses.

    A larger draw contains the smaller ones.

    Example: bench annotate verdicts codis --n 100 --model my-model
    """
    from bench_assets.annotate.operations import draw_verdicts, judged_numbers, publish

    with open_home(task) as bench:
        now = datetime.now(UTC)
        drawn = draw_verdicts(bench, task, n, model or [], now)
        first_model = drawn[0].model  # all models have the same units
        counts = Counter(row.stratum for row in drawn if row.model == first_model)
        strata = ", ".join(f"{count} {stratum}" for stratum, count in counts.most_common())
        models = ", ".join(dict.fromkeys(row.model for row in drawn))
        print_message(f"Drawn for {models}, by the judge's verdicts: {strata}.")
        print_rows([publish(bench, f"{task}/verdicts", now)], as_json=False)
        for judged_model, sentence in judged_numbers(bench, task).items():
            print_message(f"{judged_model}: {sentence}")


@app.command()
def proposals(
    suite: Annotated[str, typer.Argument(help="Suite. Default: all with an active task.")] = "",
    accepted: Annotated[
        int, typer.Option(min=0, help="Accepted proposals that people check too, drawn at random.")
    ] = 0,
    *,
    as_json: JsonOption = False,
) -> None:
    """Have people decide open keys of proposed questions, and count the proposals by state.

    Example: bench annotate proposals multi --accepted 30
    """
    from bench_assets.annotate.operations import draw_accepted, funnel_rows, proposal_tasks, publish

    with open_home(suite) as bench:
        tasks, now = proposal_tasks(bench, suite), datetime.now(UTC)
        for task in tasks:
            if accepted:
                draw_accepted(bench, task, accepted, now)
        progress_rows = [publish(bench, task, now) for task in tasks]
        if not as_json:
            print_rows(progress_rows, as_json=False)
        print_rows([row for task in tasks for row in funnel_rows(bench, task)], as_json=as_json)


@app.command()
def status(task: TaskArgument = "", *, as_json: JsonOption = False) -> None:
    """Print progress of each task: done, in progress, open, by annotator, expected end.

    Example: bench annotate status
    """
    from bench_assets.annotate.operations import progress

    with open_home(task) as bench:
        print_rows(progress(bench, task, datetime.now(UTC)), as_json=as_json)


@app.command()
def quality(task: TaskArgument = "", *, as_json: JsonOption = False) -> None:
    """Print each annotator's number of answers, speed, agreement and attention checks.

    Example: bench annotate quality
    """
    from bench_assets.annotate.operations import quality as annotator_quality

    with open_home(task) as bench:
        print_rows(annotator_quality(bench, task), as_json=as_json)


@app.command()
def queue(task: TaskArgument = "", *, as_json: JsonOption = False) -> None:
    """List the units of a second round: disagreements, and units that lack answers.

    Example: bench annotate queue codis/votes
    """
    from bench_assets.annotate.operations import queue as second_round

    with open_home(task) as bench:
        print_rows(second_round(bench, task), as_json=as_json)


@app.command()
def export(
    task: RequiredTaskArgument, folder: Annotated[Path, typer.Argument(help="New or empty folder.")]
) -> None:
    """Export a task for Label Studio: its labelling configuration, and units with images.

    Example: bench annotate export codis/votes out/
    """
    from bench_assets.annotate.operations import export as export_task

    with open_home(task) as bench:
        for file in export_task(bench, task, folder):
            print_result(str(file))


@app.command("import")
def import_(
    task: RequiredTaskArgument,
    file: Annotated[Path, typer.Argument(help="Export of Label Studio, in the format JSON.")],
) -> None:
    """Import answers from Label Studio; importing a file again adds nothing twice.

    Example: bench annotate import codis/votes export.json
    """
    from bench_assets.annotate.operations import import_answers

    with open_home(task) as bench:
        counts = import_answers(bench, task, file)
        print_message(f"answers imported: {counts.new}; there before: {counts.known}")
