"""``bench home``: downloads, imports, verification, migration and disk usage of a home folder."""

from collections import Counter
from shlex import quote
from typing import Annotated

import typer

from bench_assets.cli.app.command_context import open_home, open_settings
from bench_assets.cli.app.options import JsonOption, SuiteName
from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.console.output import print_message, print_result, print_rows
from bench_resources.config.environment import default_home

app = typer.Typer(
    no_args_is_help=True,
    help="Create, fill, verify and migrate the home folder, $BENCH_HOME; import results.",
)


@app.command()
def fetch(
    suite: SuiteName,
    address: Annotated[
        str,
        typer.Argument(
            help="hf:owner/name@revision or https://...#sha256=.... Default: the suite's."
        ),
    ] = "",
) -> None:
    """Download a suite's release into the home folder: pinned, resumed, verified.

    Example: bench home fetch blink
    """
    from bench_assets.workspace.console.new_home import print_new_home
    from bench_assets.workspace.maintain.downloads import fetch_release

    with open_home(suite, rule="bench.toml") as bench:
        definition = bench.catalog.suite(suite)
        print_new_home(bench.settings.home)
        release, folder = fetch_release(bench.settings, definition, address)
        has_sources = "sources" in bench.settings.of_file.model_fields_set
        place = "in [sources]" if has_sources else "at the end"
        header = "" if has_sources else "[sources]\n"
        print_message(
            f"{release}\nis in {folder}. To use it, put {place} of {bench.settings.file}:"
        )
        print_result(f'{header}{definition.name} = "{release}"')


@app.command()
def verify(*, as_json: JsonOption = False) -> None:
    """Verify tables, images, responses, downloads and records, and name repair commands.

    Example: bench home verify
    """
    from bench_assets.workspace.maintain.verification import verify as verify_home

    with open_home(rule="bench.toml") as bench:
        findings = verify_home(bench)
        print_rows(findings, as_json=as_json)
        n_by_state = Counter[str]()
        for finding in findings:
            if finding.is_wrong:
                n_by_state[finding.state] += finding.n
        counts = ", ".join(f"{n} {state}" for state, n in sorted(n_by_state.items()) if n)
        print_message(f"{bench.settings.home}: {counts or 'verified'}")
    raise typer.Exit(bool(counts))


@app.command()
def migrate(
    *,
    back: Annotated[
        bool, typer.Option("--back", help="Copy from the database to this home.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy this home's responses to the database of `storage`.

    Nothing is deleted. Tables are made again from the responses, without a request.

    Example: bench home migrate
    """
    from bench_assets.workspace.maintain.migration import migrate as migrate_responses

    with open_settings() as settings:
        migration = migrate_responses(settings, back=back)
        print_rows([migration], as_json=as_json)
        message = "Copied and verified; nothing was deleted."
        if migration.left_out:
            message += f" Damaged responses that were not copied: {migration.left_out}."
        print_message(message)


@app.command("migrate-schema")
def migrate_schema() -> None:
    """Upgrade stores of an older version to the current schema, here and in the database.

    Example: bench home migrate-schema
    """
    from bench_resources.config.stores import migrate_schema as upgrade_stores

    with open_settings() as settings:
        upgrades = upgrade_stores(settings)
        print_result("\n".join(upgrades) or "Every store has the current schema.")


_N_LARGEST = 5  # parts of a home that fit a screen, with the commands that free them


@app.command()
def usage(*, as_json: JsonOption = False) -> None:
    """Show disk usage of the home folder, what can be deleted, and how to back it up.

    Example: bench home usage
    """
    from bench_assets.workspace.maintain.disk_usage import BACKUP, disk_usage, shared_disk_usage

    with open_settings() as settings:
        folder = default_home()
        parts = [*disk_usage(folder), *shared_disk_usage(settings)]
        if as_json:
            print_rows(parts, as_json=True)
        else:
            total = sum(part.megabytes for part in parts)
            print_message(f"{folder}: {total:.1f} MB")
            for part in parts[:_N_LARGEST]:
                about = part.about or "unknown to this version"
                print_result(f"{part.megabytes:8.1f} MB  {part.what}: {about}")
                if part.goes:
                    print_result(f"{'':13}{part.goes}")
            if smaller_parts := parts[_N_LARGEST:]:
                size = sum(part.megabytes for part in smaller_parts)
                print_result(f"{size:8.1f} MB  smaller parts ({len(smaller_parts)}): --json")
        print_message(BACKUP.format(home=quote(str(folder))))


@app.command()
def demo() -> None:
    """Build every suite's mini edition, evaluate the embedded models, print the leaderboard.

    Example: bench home demo
    """
    from bench_assets.cli.commands.demo import DEMO_STEPS, evaluate_embedded, print_summary

    with open_home(rule="bench.toml") as bench:
        print_message(f"{bench.settings.home}: {DEMO_STEPS}")
        failures = evaluate_embedded(bench)
        print_summary(bench)
        if failures:
            raise BenchError("; ".join(map(str, failures)))
