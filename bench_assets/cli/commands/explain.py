"""``bench explain``: one score with its inputs."""

from dataclasses import asdict
from typing import Annotated

import typer

from bench_assets.cli.app.command_context import open_home
from bench_assets.cli.app.options import ConditionOption, JsonOption, SourceOption
from bench_assets.workspace.console.output import print_json_result

app = typer.Typer()


@app.command()
def explain(
    question: Annotated[str, typer.Argument(help="Question id, such as codis/s002/1.")],
    model: Annotated[str, typer.Option(help="Model.")],
    condition: ConditionOption = "main",
    source: SourceOption = "",
    *,
    as_json: JsonOption = False,
) -> None:
    """Explain one score: images, prompt, response, judge, points, signature.

    Example: bench explain codis/s002/1 --model my-model
    """
    from bench_assets.cli.output.explanations import print_explanation
    from bench_assets.workspace.inspect.explanation import explain as explain_score

    with open_home(question, source) as bench:
        explanation = explain_score(bench, question, model, condition)
        if as_json:
            print_json_result(asdict(explanation))
        else:
            print_explanation(explanation)
