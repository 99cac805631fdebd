"""``bench models`` and ``bench home remove``."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import check_sections, open_home, open_settings
from bench_assets.cli.app.options import JsonOption
from bench_assets.core.schema.errors import BenchError, SettingsError
from bench_assets.workspace.console.output import print_message, print_rows
from bench_assets.workspace.materialization.model_arguments import resolve_models

if TYPE_CHECKING:
    from bench_resources.config.bench_toml import Settings
    from bench_resources.config.sections.models import ListedModel
    from bench_resources.models.registry.named_models import ResolvedModel

app = typer.Typer(no_args_is_help=True, help="List models, and check that they can be evaluated.")
removal_app = typer.Typer()


Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[MODEL]...", help="Models, by name or location. Default: all."),
]


@app.command("list")
def list_configured(name: Names = None, *, as_json: JsonOption = False) -> None:
    """List models that can be evaluated or can judge, and encoders.

    Example: bench models list
    """
    from bench_resources.config.sections.models import missing_embedded

    with open_settings() as settings:
        check_sections(settings)
        models = resolve_models(name or (), settings)
        print_rows(_list_models(models, settings), as_json=as_json)
        for command, names in missing_embedded(settings.models).items():
            print_message(f"not listed: {', '.join(names)} ({command})")


@app.command()
def check(name: Names = None, *, as_json: JsonOption = False) -> None:
    """Load each model, or connect to its server, and send six probes.

    Example: bench models check runs/step-500
    """
    from bench_resources.config.sections.models import list_models

    with open_settings() as settings:
        check_sections(settings)
        names = name or [model.name for model in list_models(settings.models)]
        raise typer.Exit(not _check_models(names, settings, as_json=as_json))


@removal_app.command()
def remove(
    model: Annotated[str, typer.Argument(help="Model, as tables name it.")],
    *,
    responses: Annotated[
        bool, typer.Option("--responses", help="Remove its cached responses too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Remove a model's tables and partition; cached responses are kept.

    Example: bench home remove my-model
    """
    from bench_assets.asset_factory.check_results import format_count
    from bench_assets.workspace.maintain import removal

    with open_home(rule="bench.toml") as bench:
        removable = removal.find_removable(bench, model)
        size = f"{format_count(len(removable.tables), 'table')}, {removable.megabytes:.1f} MB"
        responses_note = ", and its responses" if responses else "; its responses stay"
        print_message(f"{model}: {size}{responses_note}")
        if model in bench.settings.models_of_file:
            print_message(f"its section stays in {bench.settings.file}")
        if not (yes or (sys.stdin.isatty() and typer.confirm("Remove them?", err=True))):
            raise SettingsError("nothing was removed; --yes removes it without asking")
        print_rows([removal.remove(bench, removable, responses=responses)], as_json=as_json)


def _list_models(models: "Sequence[ResolvedModel]", settings: "Settings") -> "list[ListedModel]":
    """List the given models, also those without a section; without any, all that have one."""
    from bench_resources.config.sections.models import EMBEDDED_ENCODERS, ListedModel, list_models

    configured = list_models(settings.models)
    usable_names = {model.name for model in configured}
    for name, encoder in settings.encoders.items():
        place = str(encoder.get("path"))
        is_embedded = name in EMBEDDED_ENCODERS
        if place in usable_names or not is_embedded:  # an embedded encoder needs its model
            configured.append(
                ListedModel(name=name, kind="encoder", place=place, embedded=is_embedded)
            )
    if not models:
        return configured
    by_name = {model.name: model for model in configured}
    return [
        by_name.get(model.name)
        or ListedModel(
            name=model.name, kind=model.spec.kind, place=model.spec.place, embedded=False
        )
        for model in models
    ]


def _check_models(models: Sequence[str], settings: "Settings", *, as_json: bool) -> bool:
    """Check models and print the results; returns whether all passed."""
    from bench_assets.cli.output.check_results import print_check
    from bench_resources.config.environment import set_openmp_passive
    from bench_resources.models.registry.model_check import ModelCheck, check_model

    set_openmp_passive()
    passed = True
    for name in dict.fromkeys(models):
        try:
            (model,) = resolve_models([name], settings)
            check = check_model(model, settings)
        except BenchError as error:  # of this model; the others are still checked
            check = ModelCheck(model=name, error=str(error))
        passed = passed and not check.failures
        print_check(check, as_json=as_json)
    return passed
