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

_WIDTH = 100  # characters of a line
_MAX_NAME_WIDTH = len("journeybench/")  # of a line in a task's name: the longest suite's


def print_matrices(
    rows: Sequence[LeaderboardRow],
    chance: Mapping[str, float | None],
    *,
    published: bool,
    only_learnt: bool = False,
) -> None:
    """Print the leaderboard: models by tasks, one matrix per edition.

    ``chance`` has the expected score of guessing by task, if known; ``published`` includes the
    papers' rows; ``only_learnt`` leaves out tasks on which no model is above the blind baselines.
    """
    all_matrices = matrices(rows, chance)
    displayed = [matrix for matrix in all_matrices if matrix.models or matrix.blind or published]
    if not displayed:
        print_message(NO_RESULTS)
    for matrix in displayed:
        print_result(f"\n{matrix.edition}: each task's primary metric")
        learnt_tasks = tuple(task for task in matrix.tasks if task not in matrix.unlearnt)
        trimmed = replace(matrix, tasks=learnt_tasks) if only_learnt else matrix
        _print_matrix(trimmed, published=published)
        for sentence in trimmed.legend:
            print_sentence(sentence)
        if matrix.winner:
            print_sentence(matrix.winner)
    n_hidden = sum(len(matrix.published) for matrix in all_matrices)
    if n_hidden and not published:
        print_result(f"Published rows: --published ({n_hidden}). Intervals: bench leaderboard TASK")


def _print_matrix(matrix: Matrix, *, published: bool) -> None:
    """Print the tasks in blocks below each other; the first has the mean ranks."""
    sections = (matrix.models, matrix.blind, matrix.published if published else ())
    rows = [row for section in sections for row in section]
    for block_index, tasks in enumerate(_task_blocks(matrix, rows)):
        has_ranks = block_index == 0 and any(row.rank for row in matrix.models)
        table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
        table.add_column("model", overflow="fold")
        if has_ranks:
            table.add_column(_rank_title(matrix), justify="right")
        for task in tasks:
            table.add_column(_wrap_task_name(task), justify="right", overflow="fold")
        for section in sections:
            placeholder = "–" if section is matrix.models else ""
            for row in section:
                rank = [row.rank] if has_ranks else []
                cells = [row.cells.get(task, placeholder) for task in tasks]
                table.add_row(escape_to_one_line(row.name), *rank, *cells)
            table.add_section()
        print_table(table)


def _rank_title(matrix: Matrix) -> str:
    n = len(matrix.ranked)
    noun = "task" if n == 1 else "tasks"
    return f"mean rank\nof {n} {noun}"


def _task_blocks(matrix: Matrix, rows: Sequence[MatrixRow]) -> list[list[str]]:
    """Divide the tasks into blocks as wide as the terminal, of at most ``_WIDTH`` characters."""
    name_width = max((len(escape_to_one_line(row.name)) for row in rows), default=0)
    block_width = min(_WIDTH, output_width())
    remaining = block_width - name_width - 1 - _text_width(_rank_title(matrix))
    blocks: list[list[str]] = [[]]
    for task in matrix.tasks:
        cells = [row.cells.get(task, "") for row in rows]
        width = 1 + max(map(_text_width, [_wrap_task_name(task), *cells]))
        if blocks[-1] and width > remaining:
            blocks.append([])
            remaining = block_width - name_width
        blocks[-1].append(task)
        remaining -= width
    return blocks


def _text_width(text: str) -> int:
    """Length of the longest line."""
    return max(map(len, text.split("\n")))


def _wrap_task_name(task: str) -> str:
    """Break a task's name at / and _, to keep its column narrow.

    >>> _wrap_task_name("journeybench/multi_image_vqa").splitlines()
    ['journeybench/', 'multi_image_', 'vqa']
    """
    lines = [""]
    for part in escape_to_one_line(task).replace("/", "/ ").replace("_", "_ ").split():
        extended = lines[-1] + part
        if lines[-1] and (lines[-1].endswith("/") or len(extended) > _MAX_NAME_WIDTH):
            lines.append(part)
        else:
            lines[-1] = extended
    return "\n".join(lines)
