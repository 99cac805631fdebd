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


def test_table_1_has_17_models_on_14_tasks():
    assert len(MODELS) == 17
    assert len(PRINTED) == (17 + 2) * (14 + 1)


@pytest.mark.parametrize("model", MODELS)
def test_every_printed_accuracy_is_a_whole_number_of_right_answers(model):
    for name, task in PERCEPTION_TASKS.items():
        row = PRINTED[model, name]
        n_right = round(row.value * task.test)
        assert f"{100 * n_right / task.test:.2f}" == row.printed


@pytest.fixture
def data_pack(shared_data):
    return json.loads((shared_data / "published" / "blink.json").read_text())


def test_table_1_has_the_validation_accuracies_of_the_data_pack(data_pack):
    rows = [row for row in ROWS if row.source == "BLINK, Table 1 (validation)"]
    printed = {row.printed for row in rows if row.model != "Random choice"}
    assert {f"{row['val']:.2f}" for row in data_pack["table1"].values()} == printed


@pytest.mark.parametrize(
    ("table", "source", "models"),
    [
        (
            "table2_dev",
            "BLINK, Table 2 (dev)",
            ("Random", "Human", "GeminiProVision", "GPT4V", "Specialist"),
        ),
        ("table4_concat", "BLINK, Table 4", ("GeminiProVision_concat", "GPT4V_concat")),
    ],
)
def test_tables_2_and_4_have_the_accuracies_of_the_data_pack(data_pack, table, source, models):
    printed = [float(row.printed) for row in ROWS if row.source == source]
    copied = [accuracy for model in models for accuracy in data_pack[table][model]]
    assert sorted(printed) == sorted(copied)
