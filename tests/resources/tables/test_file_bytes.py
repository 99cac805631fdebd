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


def sum_points(files: TableFiles) -> float:
    sql = "SELECT sum(points) AS points, max(question_id) FROM scores"
    return float(files.query(sql, {"scores": ([KEY], Score)}).column("points")[0].as_py())


READ_OPERATIONS = pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda files, model: files.read(KEY, Score, model), id="rows"),
        pytest.param(lambda files, model: files.digest(KEY, model), id="digest"),
        pytest.param(lambda files, model: files.verify(KEY, model), id="checksum"),
        pytest.param(lambda files, _: sum_points(files), id="SQL"),
    ],
)


@READ_OPERATIONS
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: path.write_bytes(b""), id="an empty file"),
        pytest.param(lambda path: path.write_text("question_id, points"), id="text"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-9]), id="truncated"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes() * 2), id="repeated"),
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
def test_a_damaged_table_is_an_error(files, path, damage, read):
    damage(path)
    with pytest.raises(TableError, match=r"all\.parquet"):
        read(files, "")


@READ_OPERATIONS
def test_a_table_under_the_name_of_another_is_an_error(files, read):
    Path(files.write(KEY, ROWS, Score, "b")).rename(files.path(KEY, "b").with_stem("a"))
    with pytest.raises(TableError, match=r"table suite/scores/a\.parquet, got suite/scores/b"):
        read(files, "a")


def test_tables_stay_valid_when_they_are_moved_to_another_source(files, tmp_path):
    files.write(KEY, ROWS, Score, "all")
    moved = TableFiles(folder=str(tmp_path), places={"suite": ".of/x-1"})
    files.path(KEY, "all").parent.parent.rename(tmp_path / "aside")
    moved.path(KEY).parent.parent.parent.mkdir(parents=True)
    (tmp_path / "aside").rename(moved.path(KEY).parent.parent)
    moved.verify(KEY)
    moved.verify(KEY, "all")


def test_a_failed_write_names_the_path_and_leaves_no_file(files: TableFiles, path: Path) -> None:
    path.unlink()
    path.mkdir()
    with pytest.raises(HomeError, match=r"all\.parquet: cannot be written: Is a directory"):
        files.write(KEY, ROWS, Score)
    assert list(path.parent.iterdir()) == [path]
