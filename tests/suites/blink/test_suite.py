"""The printed numbers fit together as the paper says they do, so none was copied wrongly."""

import json
from pathlib import Path

import pytest

from bench_assets.core.schema.published_numbers import read_published
from bench_assets.suites.blink import task as task_module
from bench_assets.suites.blink.dataset import PERCEPTION_TASKS

ROWS = read_published(Path(task_module.__file__).with_name("published.csv"))
TEST = "BLINK, Table 1 (test)"
PRINTED = {
    (row.model, row.category): row
    for row in ROWS
    if row.source == TEST and row.metric == "accuracy"
}
MODELS = sorted({model for model, _ in PRINTED} - {"Human", "Random choice"})


def right_answers(model, name):
    """The number of right answers that gives the printed percentage."""
    n = PERCEPTION_TASKS[name].test
    return round(PRINTED[model, name].value * n), n


def test_table_1_has_17_models_on_14_tasks():
    assert len(MODELS) == 17
    assert len(PRINTED) == (17 + 2) * (14 + 1)


@pytest.mark.parametrize("model", MODELS)
def test_every_printed_accuracy_is_a_number_of_right_answers(model):
    for name in PERCEPTION_TASKS:
        k, n = right_answers(model, name)
        assert f"{100 * k / n:.2f}" == PRINTED[model, name].printed


def test_the_tables_hold_what_the_data_pack_has(shared_data):
    pack = json.loads((shared_data / "published" / "blink.json").read_text())
    validation = {row.printed for row in ROWS if row.source == "BLINK, Table 1 (validation)"}
    assert {f"{row['val']:.2f}" for row in pack["table1"].values()} <= validation
    for table, source in (
        ("table2_dev", "BLINK, Table 2 (dev)"),
        ("table4_concat", "BLINK, Table 4"),
    ):
        printed = [float(row.printed) for row in ROWS if row.source == source]
        copied = [v for k, values in pack[table].items() if _is_row(table, k) for v in values]
        assert sorted(printed) == sorted(copied)


def _is_row(table, name):
    if table == "table4_concat":
        return name.endswith("_concat")
    return name in ("Random", "Human", "GeminiProVision", "GPT4V", "Specialist")
