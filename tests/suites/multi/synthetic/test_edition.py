"""The mini edition is the same wherever it is written."""

from bench_assets.suites.multi.synthetic.edition import write


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_same_bytes_are_written_again_and_touched_no_more(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    write(one)
    write(other)
    assert contents(one) == contents(other)
    before = {path: path.stat().st_mtime_ns for path in one.rglob("*.png")}
    write(one)
    assert {path: path.stat().st_mtime_ns for path in one.rglob("*.png")} == before
