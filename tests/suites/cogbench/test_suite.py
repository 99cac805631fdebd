import json
from collections import Counter
from pathlib import Path

from bench_assets.core.schema.published_numbers import read_published
from bench_assets.suites import cogbench

ROWS = read_published(Path(cogbench.__file__).with_name("published.csv"))


def test_published_csv_has_each_score_of_the_paper(shared_data):
    tables = json.loads((shared_data / "published" / "cogbench.json").read_text())
    # Table 1 has counts, the others have scores.
    score_tables = [table for name, table in tables.items() if not name.startswith("table1")]
    scores = [value for table in score_tables for row in table.values() for value in row.values()]
    assert Counter(row.value for row in ROWS) == Counter(round(score, 3) for score in scores)


def test_each_score_is_the_printed_one():
    assert ROWS
    assert [float(row.printed) for row in ROWS] == [row.value for row in ROWS]
