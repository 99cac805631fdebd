import json
from collections import Counter
from pathlib import Path

from bench_assets.core.schema.published_numbers import read_published
from bench_assets.suites import cogbench

ROWS = read_published(Path(cogbench.__file__).with_name("published.csv"))


def test_every_number_of_the_paper_is_there(shared_data):
    tables = json.loads((shared_data / "published" / "cogbench.json").read_text())
    expected = Counter(
        round(value, 3)
        for name, table in tables.items()
        if not name.startswith("table1")
        for row in table.values()
        for value in row.values()
    )
    assert Counter(row.value for row in ROWS) == expected
    assert all(float(row.printed) == row.value for row in ROWS)
