from collections import Counter
from pathlib import Path

from bench_assets.core.schema.published_numbers import read_published
from bench_assets.suites import multi
from bench_assets.suites.multi.task import TASK

ROWS = read_published(Path(multi.__file__).with_name("published.csv"))


def test_every_number_of_every_table_is_there():
    """Of Table 6 without what stands in Table 3 too: NI, and the column with the images."""
    assert Counter(row.source for row in ROWS) == {
        "MULTI, Table 3": 11 * 4,
        "MULTI, Table 4": 11 * 5,
        "MULTI, Table 5": 11 * 5,
        "MULTI, Table 6": 8 * 6,
        "MULTI, Table 7": 11 * 8,
        "MULTI, Table 8": 4,
    }


def test_conditions_and_measures_are_those_of_the_task():
    assert {row.condition for row in ROWS} <= TASK.conditions.keys()
    assert {row.metric for row in ROWS} <= TASK.measures.keys()
    assert {row.task for row in ROWS} == {"multi"}


def test_values_are_what_is_printed():
    assert all(abs(float(row.printed) / 100 - row.value) < 1e-9 for row in ROWS)


def test_what_table_6_repeats_of_table_3_agrees_with_it():
    """Text-only models are asked without the images there as here."""
    cells = {(r.source[-1], r.model, r.condition, r.category): r.value for r in ROWS}
    for model in ("MOSS", "ChatGPT(1106)", "DFM-2.0"):
        for images in ("SI", "MI"):
            assert cells["6", model, "no_image", images] == cells["3", model, "main", images]
