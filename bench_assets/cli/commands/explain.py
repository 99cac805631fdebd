"""``bench explain`` and ``bench diff``."""

from typing import Annotated

import typer

from bench_assets.cli.app.command_context import open_home
from bench_assets.cli.app.options import ConditionOption, JsonOption, SourceOption
from bench_assets.core.schema.errors import TableError
from bench_assets.workspace.console.output import print_json_result, print_message

app = typer.Typer()

EvaluationArgument = Annotated[
    str, typer.Argument(help="A model, a condition, a Parquet file of metrics, or a signature.")
]


@app.command()
def explain(
    question: Annotated[str, typer.Argument(help="Such as codis/017/2.")],
    model: Annotated[str, typer.Option(help="Whose cell of the question.")],
    condition: ConditionOption = "main",
    source: SourceOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Print all that is behind one cell: images, prompt, response, judge, points, signature."""
    from bench_assets.cli.output.explanations import print_explanation
    from bench_assets.workspace.inspect.explanation import explain as gather
    from resources.config.environment import known_secrets

    with open_home(question, source) as bench:
        found = gather(bench, question, model, condition)
        secrets = known_secrets(bench.settings.home)
        if as_json:
            print_json_result(secrets.redacted_value(found.to_json()))
            return
        print_explanation(found, secrets)


@app.command()
def diff(
    before: EvaluationArgument,
    after: EvaluationArgument,
    suite: Annotated[str, typer.Option(help="A suite or task; all that both have, without.")] = "",
    model: Annotated[str, typer.Option(help="Whose conditions are compared.")] = "",
    condition: ConditionOption = "main",
    metric: Annotated[str, typer.Option(help="Instead of each task's primary metric.")] = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Say why a score moved: questions, prompt, model, decoding, judge, reading, and the rest."""
    from bench_assets.cli.output.explanations import print_difference
    from bench_assets.workspace.console.output import print_rows
    from bench_assets.workspace.inspect.explanation import compare_evaluations

    left_out: list[TableError] = []
    with open_home(suite) as bench:
        chosen = {"suite": suite, "model": model, "condition": condition, "metric": metric}
        found = compare_evaluations(bench, before, after, **chosen, left_out=left_out)
        for one in found:
            if as_json:
                print_rows(one.causes, as_json=True)
            else:
                print_difference(one)
        for why in left_out:
            print_message(f"left out: {why}")
    raise typer.Exit(bool(left_out))
