"""Terminal output of the leaderboard: a matrix per edition and a summary."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.table import Table

from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.core.text.escaping import escape_to_one_line
from bench_assets.workspace.console.output import (
    NO_RESULTS,
    output_width,
    print_message,
    print_result,
    print_sentence,
    print_table,
)
from bench_assets.workspace.inspect.leaderboard import Matrix, MatrixRow, matrices

_WIDTH = 100  # characters


def print_matrices(
    rows: Sequence[LeaderboardRow],
    chance: Mapping[str, float | None],
    *,
    published: bool,
    only_learnt: bool = False,
) -> None:
    """Print the leaderboard: models by tasks, one matrix per edition.

    Args:
        rows: The leaderboard.
        chance: Task -> expected score of guessing, if known.
        published: Whether to include the papers' rows.
        only_learnt: Whether to leave out tasks on which no model is above the blind baselines.
    """
    displayed = [
        matrix for matrix in matrices(rows, chance) if matrix.models or matrix.blind or published
    ]
    if not displayed:
        print_message(NO_RESULTS)
    for matrix in displayed:
        print_result(f"\n{matrix.edition}: each task's primary metric")
        learnt = tuple(task for task in matrix.tasks if task not in matrix.unlearnt)
        shown = replace(matrix, tasks=learnt) if only_learnt else matrix
        _print(shown, published=published)
        for sentence in (*shown.legend, *filter(None, [matrix.winner])):
            print_sentence(sentence)
    hidden = sum(len(matrix.published) for matrix in matrices(rows, chance))
    if hidden and not published:
        print_result(f"Published rows: --published ({hidden}). Intervals: bench leaderboard TASK")


def _print(matrix: Matrix, *, published: bool) -> None:
    """Print the tasks in blocks of at most ``_WIDTH`` characters; the first has the mean ranks."""
    parts = (matrix.models, matrix.blind, matrix.published if published else ())
    has_ranks = any(line.rank for line in matrix.models)
    for nth, tasks in enumerate(_blocks(matrix, [line for part in parts for line in part])):
        table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
        table.add_column("model", overflow="fold")
        if has_ranks and not nth:
            table.add_column(_rank_title(matrix), justify="right")
        for task in tasks:
            table.add_column(_wrap_task_name(task), justify="right", overflow="fold")
        for part in parts:
            for line in part:
                rank = [line.rank] if has_ranks and not nth else []
                table.add_row(
                    escape_to_one_line(line.name),
                    *rank,
                    *(line.cells.get(name, "–" * (part is matrix.models)) for name in tasks),
                )
            table.add_section()
        print_table(table)


def _rank_title(matrix: Matrix) -> str:
    n = len(matrix.ranked)
    return f"mean rank\nof {n} task{'s' * (n != 1)}"


def _blocks(matrix: Matrix, lines: Sequence[MatrixRow]) -> list[list[str]]:
    """Divide the tasks into blocks of at most ``_WIDTH`` characters."""
    names = max((len(escape_to_one_line(line.name)) for line in lines), default=0)
    first = names + 1 + _longest(_rank_title(matrix))
    blocks: list[list[str]] = [[]]
    whole = min(_WIDTH, output_width())
    left = whole - first
    for task in matrix.tasks:
        width = 1 + max(
            _longest(_wrap_task_name(task)),
            *(_longest(line.cells.get(task, "")) for line in lines),
        )
        if blocks[-1] and width > left:
            blocks.append([])
            left = whole - names
        blocks[-1].append(task)
        left -= width
    return blocks


def _longest(text: str) -> int:
    return max(map(len, text.split("\n")))


def _wrap_task_name(task: str) -> str:
    """Break a task's name at / and _, to keep its column narrow.

    >>> _wrap_task_name("journeybench/multi_image_vqa").splitlines()
    ['journeybench/', 'multi_image_', 'vqa']
    """
    lines = [""]
    for part in escape_to_one_line(task).replace("/", "/ ").replace("_", "_ ").split():
        joined = lines[-1] + part
        if lines[-1] and (lines[-1].endswith("/") or len(joined) > len("journeybench/")):
            lines.append(part)
        else:
            lines[-1] = joined
    return "\n".join(lines)
