from pathlib import Path

from bench_assets.core.tables.read_rows import collect_rows, record_row, take_rows


def test_rows_filled_fields_repetitions_and_reasons_are_counted_by_file():
    first = {"id": 1, "note": "", "key": {"a": 0, "b": None}}
    second = {"id": 2, "note": "x", "key": {}}
    with collect_rows():
        record_row("/a.jsonl, line 0", first)
        record_row("/a.jsonl, line 1", second)
        record_row("/a.jsonl, line 2", first)
        record_row("/a.jsonl, line 1", second)  # read by another step
        record_row("/b.jsonl, line 0", reason="not JSON")
        rows_by_file = take_rows()
    rows, broken_rows = rows_by_file[Path("/a.jsonl")], rows_by_file[Path("/b.jsonl")]
    assert rows.field_counts == {"id": 3, "note": 1, "key": 2, "key.a": 2}
    assert (rows.n_repeated, len(rows.fields), rows.reasons) == (1, 3, {})  # line 2 repeats line 0
    assert broken_rows.reasons == {"/b.jsonl, line 0": "not JSON"}


def test_a_row_belongs_to_its_file_below_a_folder_with_a_comma():
    with collect_rows():
        record_row("/Doe, Jane/a.jsonl, line 0", {"id": 1})
        record_row("/Doe, Jane/b.json", {"id": 1})
        assert [*take_rows()] == [Path("/Doe, Jane/a.jsonl"), Path("/Doe, Jane/b.json")]


def test_rows_of_another_file_are_added_with_their_fields_reasons_and_contents():
    with collect_rows():
        record_row("/a.json, entry 1", {"id": 1})
        record_row("/b.json, entry 1", {"id": 1}, reason="no text")
        rows, other_rows = take_rows().values()
    rows.add(other_rows)
    assert (rows.field_counts, rows.n_repeated) == ({"id": 2}, 1)
    assert rows.reasons == {"/b.json, entry 1": "no text"}
