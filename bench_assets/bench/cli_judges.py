"""The command of ``bench`` that measures a judge before anybody trusts its numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bench_assets.bench.command import opened
from bench_assets.bench.completion import complete_judges
from bench_assets.bench.options import JsonOption, JudgeOption, SourceOption, SuiteName, named
from bench_assets.bench.printing import Cell, print_rows, say
from bench_assets.core.errors import SettingsError

if TYPE_CHECKING:
    from bench_assets.bench.judge_checking import CheckedJudge

app = typer.Typer()

COLUMNS: Mapping[str, Cell] = {
    "figure": lambda row: row.figure,
    "value": lambda row: f"{row.value:.3f}",
    "95 % interval": lambda row: f"{row.low:.3f} to {row.high:.3f}",
    "n": lambda row: str(row.n),
    "look at": lambda row: row.about if len(row.about) < 60 else f"{row.about[:57]}...",
}


@app.command("check-judge")
def check_judge(
    task: SuiteName,
    judge: JudgeOption = "",
    source: SourceOption = None,
    questions: Annotated[int, typer.Option(min=1, help="Make replies to so many questions.")] = 25,
    beside: Annotated[str, named("A second judge, for the same replies.", complete_judges)] = "",
    labels: Annotated[
        Path | None,
        typer.Option(help="JSON lines: people's verdicts on replies that it judged here."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Measure a judge on replies that are right and wrong by make, and on 100 injections."""
    with opened(task, source) as bench:
        from bench_assets.bench.judge_checking import check_judge

        judged = [one for one in bench.catalog.tasks_of(task) if one.is_judged]
        if not judged:
            raise SettingsError(f"{task}: nobody judges its replies")
        for one in judged:
            found = check_judge(
                bench, one, judge, n_questions=questions, beside=beside, labels=labels
            )
            _tell(one.name, found)
            print_rows(found.figures, as_json=as_json, columns=COLUMNS)


def _tell(task: str, found: "CheckedJudge") -> None:
    paid = f", {found.money:.2f} by the prices of bench.toml" if found.money else ""
    say(
        f"{task}, {found.judge}: asked {found.n_asked} times about replies to {found.n_questions}"
        f" questions: {found.tokens.prompt} tokens in, {found.tokens.completion} out{paid}"
    )
