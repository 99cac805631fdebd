import json
from collections import Counter
from pathlib import Path

from bench_assets.core.schema.published_numbers import read_published
from bench_assets.suites import cogbench
from bench_assets.suites.cogbench.description.task import TASK as DESCRIPTION
from bench_assets.suites.cogbench.vqa.task import TASK as VQA

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


def test_primary_metrics_have_a_row_for_every_model_of_the_paper():
    for task, n in ((DESCRIPTION, 10), (VQA, 10)):
        models = {
            row.model
            for row in ROWS
            if (row.task, row.metric, row.category) == (task.name, task.primary_metric, "all")
        }
        assert len(models) == n


def test_measures_and_categories_are_named_as_in_the_tables():
    named = {row.metric for row in ROWS if "Table 3" in row.source}
    assert named == set(DESCRIPTION.measures)
    assert {row.category for row in ROWS if "Table 5" in row.source} == set(VQA.counts)


def test_one_model_has_one_name_in_all_tables():
    models = {row.model for row in ROWS if "Table 4" not in row.source}
    assert len({name.casefold() for name in models}) == len(models) == 11
