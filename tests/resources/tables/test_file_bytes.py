"""A table is read as it was written, or not at all."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bench_assets.core.schema.errors import HomeError, TableError
from bench_assets.core.schema.rows import Score
from bench_resources.tables.parquet import TableFiles

KEY = ["suite", "scores"]
ROWS = [
    Score(
        question_id=f"quiz/{n}",
        model="m",
        condition="main",
        sample=0,
        points=float(n % 2),
        max_points=1.0,
        answer=("A", "B")[: n % 3],
    )
    for n in range(40)
]


@pytest.fixture
def files(tmp_path: Path) -> TableFiles:
    return TableFiles(folder=str(tmp_path))


@pytest.fixture
def path(files: TableFiles) -> Path:
    return Path(files.write(KEY, ROWS, Score))


def points(files: TableFiles) -> float:
    sql = "SELECT sum(points) AS points, max(question_id) FROM scores"
    return float(files.query(sql, {"scores": ([KEY], Score)}).column("points")[0].as_py())


ASKS = pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda files, model: files.read(KEY, Score, model), id="its rows"),
        pytest.param(lambda files, model: files.digest(KEY, model), id="its digest"),
        pytest.param(lambda files, model: files.verify(KEY, model), id="whether it is whole"),
        pytest.param(lambda files, _: points(files), id="what SQL finds in it"),
    ],
)


@ASKS
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b""), id="an empty file"),
        pytest.param(lambda path: path.write_text("question_id, points"), id="a text"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-9]), id="the end missing"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes() * 2), id="twice"),
        pytest.param(
            lambda path: path.write_bytes(
                path.read_bytes().replace(b"bench_checksum", b"bench_seat")
            ),
            id="without the checksum's name",
        ),
        pytest.param(
            lambda path: pq.write_table(pq.read_table(path), path), id="written by another program"
        ),
        pytest.param(lambda path: (path.unlink(), path.mkdir()), id="a folder in its place"),
    ],
)
def test_a_spoilt_table_is_our_error_whatever_is_read(
    files: TableFiles, path: Path, spoil: Callable[[Path], object], ask: Callable[..., object]
) -> None:
    spoil(path)
    with pytest.raises(TableError, match=r"all\.parquet"):
        ask(files, "")


@ASKS
def test_a_table_in_the_place_of_another_is_our_error_whatever_is_read(
    files: TableFiles, ask: Callable[..., object]
) -> None:
    Path(files.write(KEY, ROWS, Score, "b")).rename(files.path(KEY, "b").with_stem("a"))
    with pytest.raises(TableError, match=r"table suite/scores/a\.parquet, got suite/scores/b"):
        ask(files, "a")


def test_a_table_may_lie_below_another_source_and_its_model_may_be_called_as_that_of_none(
    files: TableFiles, tmp_path: Path
) -> None:
    files.write(KEY, ROWS, Score, "all")
    moved = TableFiles(folder=str(tmp_path), places={"suite": ".of/x-1"})
    files.path(KEY, "all").parent.parent.rename(tmp_path / "aside")
    moved.path(KEY).parent.parent.parent.mkdir(parents=True)
    (tmp_path / "aside").rename(moved.path(KEY).parent.parent)
    moved.verify(KEY)
    moved.verify(KEY, "all")


def test_what_cannot_be_written_names_the_place_and_leaves_nothing_half(
    files: TableFiles, path: Path
) -> None:
    path.unlink()
    path.mkdir()
    with pytest.raises(HomeError, match=r"all\.parquet: cannot be written: Is a directory"):
        files.write(KEY, ROWS, Score)
    assert list(path.parent.iterdir()) == [path]
