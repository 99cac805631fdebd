"""``bench bundle``: pack, verify and reproduce a number."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.cli.app.command_context import error_reporting, open_home
from bench_assets.cli.app.options import ConditionOption, JsonOption
from bench_assets.core.schema.errors import BenchError
from bench_assets.workspace.console.output import print_json_result, print_message, print_result

if TYPE_CHECKING:
    from bench_assets.bundles.packing import PackedBundle

app = typer.Typer(
    name="bundle",
    no_args_is_help=True,
    help="Pack a number with its inputs, verify it, reproduce it.",
)

EXIT_NOT_POSSIBLE = 2  # exit code if a number cannot be reproduced
_BUNDLE_SUFFIX = ".zip"

TaskArgument = Annotated[str, typer.Argument(help="Task, such as codis.")]
ModelArgument = Annotated[str, typer.Argument(help="Evaluated model.")]


@app.command()
def reproduce(
    task: TaskArgument,
    model: ModelArgument,
    condition: ConditionOption = "main",
    *,
    as_json: JsonOption = False,
) -> None:
    """Evaluate a number again from cached responses, and compare the digits.

    No table changes. Exit code 0: same digits; 1: different digits; 2: cannot be evaluated.

    Example: bench bundle reproduce codis my-model
    """
    with open_home() as bench:
        from bench_assets.bundles.reproduction import reproduce as reproduce_number
        from bench_assets.bundles.requirements import find_number
        from bench_assets.bundles.terminal import print_reproduction, reproduction_json

        try:
            reproduction = reproduce_number(bench, find_number(bench, task, model, condition))
        except BenchError as error:
            print_message(f"cannot be evaluated: {error}")
            raise typer.Exit(EXIT_NOT_POSSIBLE) from error
        if as_json:
            print_json_result(reproduction_json(reproduction))
        else:
            print_reproduction(reproduction)
    raise typer.Exit(reproduction.exit_code)


@app.command()
def pack(
    task: TaskArgument,
    model: ModelArgument,
    file: Annotated[Path, typer.Argument(metavar="OUT.zip", help="Output file.")],
    condition: ConditionOption = "main",
    *,
    images: Annotated[
        bool,
        typer.Option("--images/--no-images", help="Include images, where the licence allows it."),
    ] = True,
    as_json: JsonOption = False,
) -> None:
    """Pack a number with all its inputs into a file that another machine can verify offline.

    Example: bench bundle pack codis my-model codis.zip
    """
    if file.suffix != _BUNDLE_SUFFIX:
        raise typer.BadParameter(f"expected an output file OUT{_BUNDLE_SUFFIX}, got {file}")
    with open_home() as bench:
        from bench_assets.bundles.reproduction import write_bundle
        from bench_assets.bundles.requirements import find_number

        number = find_number(bench, task, model, condition)
        packed = write_bundle(bench, number, file, images=images)
        _print_packed_bundle(file, packed, as_json=as_json)


def _print_packed_bundle(target: Path, packed: "PackedBundle", *, as_json: bool) -> None:
    from bench_assets.bundles.terminal import warn_about_licence

    manifest = packed.manifest
    if packed.n_left_out:
        print_message(f"images included by digest only: {packed.n_left_out}")
    warn_about_licence(manifest)
    if as_json:
        print_json_result(
            {"file": str(target), "digest": manifest.digest, "signature": manifest.signature}
        )
    else:
        print_result(str(target))
        print_result(f"bundle {manifest.digest}")


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="Bundle file.")], *, as_json: JsonOption = False
) -> None:
    """Verify a bundle: its digests, and its number evaluated again, offline.

    Exit code 0: same digits; 1: different digits, or a changed file; 2: cannot be evaluated.

    Example: bench bundle verify codis.zip
    """
    with error_reporting():
        from bench_assets.bundles.terminal import (
            bundle_verification_json,
            print_bundle_verification,
        )
        from bench_assets.bundles.verification import NotReproducibleError
        from bench_assets.bundles.verification import verify as verify_bundle

        try:
            if not file.exists():
                raise NotReproducibleError(f"{file}: no such file")
            verification = verify_bundle(file)
        except NotReproducibleError as error:
            print_message(f"cannot be evaluated: {error}")
            raise typer.Exit(EXIT_NOT_POSSIBLE) from error
        if as_json:
            print_json_result(bundle_verification_json(verification))
        else:
            print_bundle_verification(verification)
    raise typer.Exit(bool(verification.divergences))
