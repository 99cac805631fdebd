"""What is collected of the rows of a raw file."""

from pathlib import Path

from bench_assets.core.tables.read_rows import collect_rows, record_row, take_rows


def test_of_each_file_rows_filled_fields_and_repeated_contents_are_counted():
    rows = [
        {"id": 1, "note": "", "key": {"a": 0, "b": None}},
        {"id": 2, "note": "x", "key": {}},
        {"id": 1, "note": "", "key": {"a": 0, "b": None}},
    ]
    with collect_rows():
        for number, row in enumerate(rows):
            record_row(f"/a.jsonl, line {number}", row)
        record_row("/a.jsonl, line 1", rows[1])  # read by another step
        record_row("/b.jsonl, line 0", reason="not JSON")
        read = take_rows()
    assert read[Path("/a.jsonl")].field_counts == {"id": 3, "note": 1, "key": 2, "key.a": 2}
    assert [(rows.n_repeated, len(rows.fields), len(rows.reasons)) for rows in read.values()] == [
        (1, 3, 0),
        (0, 1, 1),
    ]
