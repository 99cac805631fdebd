"""What fills a home: by suite, by model and by kind, with the command that takes it away."""

from bench_assets.workspace.maintain.disk_usage import disk_usage


def test_tables_are_listed_by_suite_and_by_model_and_the_largest_come_first(tmp_path):
    sizes = {
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
    for name, size in sizes.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x" * size)
    found = {one.what: one for one in disk_usage(tmp_path)}
    assert {what: (one.n_files, one.megabytes) for what, one in found.items()} == {
        "responses.sqlite": (2, 5.0),
        "tables/codis": (1, 1.0),
        "tables of org/m": (2, 0.7),
        "tables/blink": (1, 0.6),
        "images": (1, 0.2),
        "tables of random": (1, 0.1),
        "bench.toml": (1, 0.0),
        "mine.txt": (1, 0.0),
    }
    assert list(found)[:3] == ["responses.sqlite", "tables/codis", "tables of org/m"]
    assert found["tables of org/m"].goes == "bench home remove org/m"
    assert found["images"].goes.startswith(f"rm -r {tmp_path}/images: ")
    assert "made by bench evaluate codis" in found["tables/codis"].goes
    assert found["bench.toml"].goes == ""
    assert sum(one.n_files for one in found.values()) == len(sizes)
