"""Attention checks that no answer can pass are refused before anybody is asked."""

import pytest

from bench_assets.annotation.tasks import (
    AnnotationTask,
    Field,
    SuiteAnnotationTask,
    Unit,
    yes_or_no,
)
from bench_assets.core.schema.errors import SettingsError
from bench_assets.defs.tables.annotation import build_units
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles

FORM = AnnotationTask(
    name="t/votes",
    title="Votes",
    instructions="",
    fields=(yes_or_no("right", "Right?"), Field(name="why", kind="text", label="Why?")),
)
TASK = SuiteAnnotationTask(
    task=FORM, reads={}, units=lambda: [Unit(task="t/votes", unit_id="1")], row=Unit, to_rows=list
)


def asked(home, values):
    (home / "gold.jsonl").write_text(f'{{"unit": "1", "values": {values}}}\n')
    (home / "bench.toml").write_text('[annotation.tasks."t/votes"]\ngold = "gold.jsonl"\n')
    settings = load_settings(home)
    chosen = settings.annotation.tasks["t/votes"]
    return build_units(TASK, chosen, settings, TableFiles(folder=str(home)))


def test_an_attention_check_need_not_have_all_fields(tmp_path):
    (unit,) = asked(tmp_path, '{"right": "yes"}')
    assert unit.gold == {"right": ("yes",)}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ('{"right": "Yes"}', "right: 'Yes' is none of yes, no"),
        ('{"right": true}', "right: 'True' is none of yes, no"),
        ('{"rihgt": "yes"}', "there is no field 'rihgt'"),
        ('{"right": []}', "right: empty"),
    ],
)
def test_a_value_that_no_answer_can_have_is_refused(tmp_path, values, why):
    with pytest.raises(SettingsError, match=f"gold.jsonl: unit '1': {why}"):
        asked(tmp_path, values)
