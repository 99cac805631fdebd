import pytest

from bench_assets.workspace.maintain.disk_usage import disk_usage

SIZES = {  # bytes of each file
    "tables/codis/questions/all.parquet": 1_000_000,
    "tables/codis/scores/org%2Fm.parquet": 300_000,
    "tables/blink/scores/org%2Fm.parquet": 400_000,
    "tables/blink/builders/Jigsaw.parquet": 600_000,
    "tables/blink/scores/random.parquet": 100_000,
    "responses.sqlite": 3_000_000,
    "responses.sqlite-wal": 2_000_000,
    "images/ab/abc": 200_000,
    "bench.toml": 10,
    "mine.txt": 10,
}


@pytest.fixture
def home(tmp_path):
    for name, size in SIZES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * size)
    return tmp_path


def test_tables_are_listed_by_suite_and_by_model_and_the_largest_come_first(home):
    usages = disk_usage(home)
    assert [(usage.what, usage.n_files, usage.megabytes) for usage in usages] == [
        ("responses.sqlite", 2, 5.0),
        ("tables/codis", 1, 1.0),
        ("tables of org/m", 2, 0.7),
        ("tables/blink", 1, 0.6),
        ("images", 1, 0.2),
        ("tables of random", 1, 0.1),
        ("bench.toml", 1, 0.0),
        ("mine.txt", 1, 0.0),
    ]
    assert sum(usage.n_files for usage in usages) == len(SIZES)


def test_each_entry_names_the_command_that_removes_it(home):
    removal = {usage.what: usage.goes for usage in disk_usage(home)}
    assert removal["tables of org/m"] == "bench home remove org/m"
    assert removal["images"].startswith(f"rm -r {home}/images: ")
    assert "made by bench evaluate codis" in removal["tables/codis"]
    assert removal["bench.toml"] == ""
