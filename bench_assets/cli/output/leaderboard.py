"""Terminal output of the leaderboard: a matrix per edition and a summary."""

from collections.abc import Container, Mapping, Sequence

from rich.table import Table

from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.core.text.escaping import one_line
from bench_assets.workspace.console.output import print_message, print_result, print_table
from bench_assets.workspace.inspect.leaderboard import Matrix, MatrixRow, matrices


def print_matrices(
    rows: Sequence[LeaderboardRow],
    chance: Mapping[str, float | None],
    unmeasured: Container[str] = (),
    *,
    published: bool,
) -> None:
    """Print the leaderboard: models by tasks, one matrix per edition.

    Args:
        rows: The leaderboard.
        chance: Task -> expected score of guessing, if known.
        unmeasured: Signatures of metrics whose judge was never validated.
        published: Also the papers' rows.
    """
    shown = [one for one in matrices(rows, chance, unmeasured) if one.models or published]
    if not shown:
        print_message("No results yet. Run: bench evaluate SUITE --model MODEL")
    for one in shown:
        print_result(f"\n{one.edition}: each task's primary metric")
        _print(one, published=published)
        for sentence in one.legend:
            print_result(sentence)
    hidden = sum(len(one.published) for one in matrices(rows, chance))
    if hidden and not published:
        print_result(f"Published rows: --published ({hidden}). Intervals: bench leaderboard TASK")


def _print(matrix: Matrix, *, published: bool) -> None:
    has_ranks = any(line.rank for line in matrix.models)
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("model", overflow="fold")
    for task in matrix.tasks:
        table.add_column(_wrap_task_name(task), justify="right", overflow="fold")
    if has_ranks:
        table.add_column(f"mean rank\nof {len(matrix.ranked)} tasks", justify="right")
    for part in (matrix.models, matrix.blind, matrix.published if published else ()):
        for line in part:
            table.add_row(*_cells(line, matrix.tasks), *([line.rank] if has_ranks else []))
        table.add_section()
    print_table(table)


def _cells(line: MatrixRow, tasks: Sequence[str]) -> list[str]:
    return [one_line(line.name), *(line.cells.get(task, "") for task in tasks)]


def _wrap_task_name(task: str) -> str:
    """Break a task's name at / and _, since a column is as wide as its longest line.

    >>> _wrap_task_name("journeybench/multi_image_vqa").splitlines()
    ['journeybench/', 'multi_image_', 'vqa']
    """
    lines = [""]
    for part in one_line(task).replace("/", "/ ").replace("_", "_ ").split():
        joined = lines[-1] + part
        if lines[-1] and (lines[-1].endswith("/") or len(joined) > len("journeybench/")):
            lines.append(part)
        else:
            lines[-1] = joined
    return "\n".join(lines)
