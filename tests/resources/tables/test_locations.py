from pathlib import Path

import pytest

from bench_resources.tables.locations import TableLocations

KEY = ("codis", "questions")


def test_a_named_source_has_its_own_folder():
    tables = TableLocations(folder="/t", places={"codis": ".of/a-1"})
    assert tables.path(KEY) == Path("/t/.of/a-1/codis/questions/all.parquet")
    assert tables.path(("blink", "questions")) == Path("/t/blink/questions/all.parquet")


def test_elsewhere_lists_the_other_sources_of_a_suite(tmp_path):
    for root in ("", ".of/a-1", ".of/b-2"):
        (tmp_path / root / "codis").mkdir(parents=True)
    (tmp_path / ".of/c-3/blink").mkdir(parents=True)

    def other_roots(**places):
        tables = TableLocations(folder=str(tmp_path), places=places)
        return [source.places["codis"] for source in tables.elsewhere("codis")]

    assert other_roots() == [".of/a-1", ".of/b-2"]
    assert other_roots(codis=".of/a-1") == ["", ".of/b-2"]
    assert other_roots(codis=".of/new-4") == ["", ".of/a-1", ".of/b-2"]


@pytest.mark.parametrize("root", ["", ".of/a-1"], ids=["default", "a named source"])
@pytest.mark.parametrize("model", ["", "run/step-1"], ids=["no model", "a checkpoint"])
def test_a_file_is_located_by_its_name(root, model):
    tables = TableLocations(folder="/t", places={"codis": root})
    name = tables.name(("codis", "x", "metrics"), model)
    located, key, partition = TableLocations(folder="/t").locate_file(name)
    assert located.places == {"codis": root}
    assert (key, partition) == (("codis", "x", "metrics"), model)


def test_a_broken_link_is_no_partition(tmp_path):
    tables = TableLocations(folder=str(tmp_path))
    for model in ("a", "b/c"):
        tables.path(KEY, model).parent.mkdir(parents=True, exist_ok=True)
        tables.path(KEY, model).touch()
    tables.path(KEY, "broken").symlink_to(tmp_path / "nowhere")
    assert tables.partitions(KEY) == ["a", "b/c"]
