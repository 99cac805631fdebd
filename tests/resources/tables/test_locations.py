"""Where tables lie, when several sources of a suite have some."""

from pathlib import Path

from bench_resources.tables.locations import TableLocations

KEY = ("codis", "questions")


def test_a_named_source_has_a_place_of_its_own():
    tables = TableLocations(folder="/t", places={"codis": ".of/a-1"})
    assert tables.path(KEY) == Path("/t/.of/a-1/codis/questions/all.parquet")
    assert tables.path(("blink", "questions")) == Path("/t/blink/questions/all.parquet")


def test_elsewhere_are_the_places_that_are_not_the_present_one(tmp_path):
    for place in ("", ".of/a-1", ".of/b-2"):
        (tmp_path / place / "codis").mkdir(parents=True)
    (tmp_path / ".of/c-3/blink").mkdir(parents=True)

    def elsewhere(**places):
        tables = TableLocations(folder=str(tmp_path), places=places)
        return [one.places["codis"] for one in tables.elsewhere("codis")]

    assert elsewhere() == [".of/a-1", ".of/b-2"]
    assert elsewhere(codis=".of/a-1") == ["", ".of/b-2"]
    assert elsewhere(codis=".of/new-4") == ["", ".of/a-1", ".of/b-2"]


def test_a_file_is_named_by_place_and_key():
    for place in ("", ".of/a-1"):
        tables = TableLocations(folder="/t", places={"codis": place})
        for model in ("", "run/step-1"):
            name = tables.name(("codis", "x", "metrics"), model)
            holder, key, of = TableLocations(folder="/t").locate_file(name)
            assert (holder.places, key, of) == ({"codis": place}, ("codis", "x", "metrics"), model)


def test_a_link_to_nowhere_is_no_partition(tmp_path):
    tables = TableLocations(folder=str(tmp_path))
    for model in ("a", "b/c"):
        tables.path(KEY, model).parent.mkdir(parents=True, exist_ok=True)
        tables.path(KEY, model).touch()
    tables.path(KEY, "gone").symlink_to(tmp_path / "nowhere")
    assert tables.partitions(KEY) == ["a", "b/c"]
