"""Where questions come from is told by the columns of tables, whatever they are called."""

import json
import sqlite3
from typing import Any

import pytest

from bench_assets.core.schema.signature import Signature
from bench_assets.report.pages.checks import latest_outcomes
from bench_assets.report.pages.lineage import (
    funnels,
    image_digests,
    rejections,
    source_files,
    stages,
)
from bench_assets.report.pages.numbers import in_words
from tests.fakes.quiz import TASK

CAT, DOG = "c" * 64, "d" * 64


def test_a_source_is_its_files_largest_first():
    table: dict[str, list[Any]] = {"path": ["a", "b"], "sha256": ["0", "1"], "n_bytes": [1, 20]}
    found = source_files({"s/source": table})
    assert found
    assert (found["n"], found["n_bytes"]) == (2, 21)
    assert [file["path"] for file in found["files"]] == ["b", "a"]
    assert source_files({"s/other": {"path": ["a"]}}) is None


def test_rejections_are_counted_by_reason_without_their_particulars():
    table = {
        "entry": ["1", "2", "3", "4"],
        "reason": ["1 of 4 approve; bo", "3 of 4 approve", "no image", "no image"],
    }
    (found,) = rejections({"s/rejections": table, "s/none": {"entry": [], "reason": []}})
    assert found["n"] == 4
    assert [(group.reason, group.n) for group in found["groups"]] == [
        ("… of … approve", 2),
        ("no image", 2),
    ]
    assert found["groups"][0].examples[0] == {
        "entry": "1", "reason": "1 of 4 approve; bo", "images": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "heads"),
    [
        pytest.param(("step", "n", "paper"), ("Here", "In the paper"), id="a funnel"),
        pytest.param(("statistic", "n", "paper"), ("Here", "In the paper"), id="statistics"),
        pytest.param(("task", "folder", "wanted", "built"), ("Built", "Wanted"), id="builders"),
    ],
)
def test_funnels_are_found_whatever_they_are_called(columns, heads):
    table = {name: [7] if name in ("n", "built") else ["x"] for name in columns}
    (found,) = funnels({"s/any": table, "s/rest": {"n": [1]}})
    assert found["heads"] == heads
    assert found["steps"] == [{"step": "x", "n": 7, "beside": "x"}]


@pytest.mark.parametrize(
    ("decided", "says"),
    [
        pytest.param({"kept": [True, False]}, {"kept", "not kept"}, id="yes and no"),
        pytest.param({"outcome": ["kept", "dropped"]}, {"kept", "dropped"}, id="words"),
    ],
)
def test_stages_show_images_of_what_was_kept_and_what_was_not(decided, says):
    stored: dict[str, list[Any]] = {
        "name": ["cat.png", "dog.png"], "sha256": [CAT, DOG], "format": ["PNG"] * 2,
        "width": [1, 1], "height": [1, 1], "n_bytes": [1, 1],
    }  # fmt: skip
    table = {"image": ["cat.png", "dog.png"], **decided, "reason": ["good", "blurred"]}
    (found,) = stages({"s/images": stored, "s/decisions": table})
    assert {group.decision for group in found["groups"]} == says
    assert image_digests({"stages": [found]}) == {CAT, DOG}


def test_images_may_be_named_by_digest_or_not_at_all():
    table: dict[str, list[Any]] = {"images": [[CAT], []], "selected": [True, True]}
    (found,) = stages({"s/choices": table})
    assert image_digests({"stages": [found]}) == {CAT}


def test_a_signature_is_spelled_out_in_its_own_order():
    parts = {"data": "0c", "model": "sha256:1f,float32|t=0.7,max=40,seed=3", "scorer": "exact"}
    found = in_words(Signature("quiz", 2, "main", parts, ("acme",)), TASK)
    assert [part.name for part in found] == [
        "task", "version", "condition", "data", "model", "decoding", "scorer",
    ]  # fmt: skip
    named = {part.name: part for part in found}
    assert named["task"].value == "a quiz+acme"
    assert named["condition"].meaning == "Asked as it is."
    assert named["decoding"].meaning == "Temperature 0.7, at most 40 tokens, seed 3."


@pytest.fixture
def history(tmp_path):
    """A home whose Dagster instance remembers checks: (asset, check, partition, said)."""
    file = tmp_path / "dagster" / "history" / "runs" / "index.db"
    file.parent.mkdir(parents=True)

    def remember(*rows):
        with sqlite3.connect(file) as db:
            db.execute(
                "CREATE TABLE asset_check_executions (id INTEGER PRIMARY KEY, asset_key TEXT,"
                " check_name TEXT, partition TEXT, evaluation_event TEXT,"
                " evaluation_event_timestamp TEXT)"
            )
            db.executemany(
                "INSERT INTO asset_check_executions VALUES (NULL, ?, ?, ?, ?, '2026-01-02 03:04')",
                [(json.dumps(asset.split("/")), *rest) for asset, *rest in rows],
            )
        return latest_outcomes(tmp_path)

    return remember


def event(*, success, severity="ERROR", **numbers):
    metadata = {name: {"value": value} for name, value in numbers.items()}
    return json.dumps(
        {"dagster_event": {"event_specific_data": {
            "success": success, "severity": {"__enum__": f"AssetCheckSeverity.{severity}"},
            "description": None, "metadata": metadata,
        }}}
    )  # fmt: skip


def test_the_last_outcome_of_a_check_counts(history):
    found = history(
        ("t/scores", "no_row_lost", "m", event(success=False, rows=5, problems=2)),
        ("t/scores", "no_row_lost", "m", event(success=True, rows=5, problems=0)),
        ("t/questions", "well_formed", None, event(success=False, severity="WARN", problems=1)),
        ("t/questions", "odd", None, "{not json"),
        ("t/questions", "planned", None, None),
    )
    assert [
        (one.asset, one.partition, one.passed, one.severity, one.sentence) for one in found
    ] == [
        ("t/scores", "m", True, "ERROR", "No row lost: no problem in 5 rows."),
        ("t/questions", "", False, "WARN", "Well formed: 1 problem."),
    ]


def test_a_home_without_a_readable_history_has_none(tmp_path):
    assert latest_outcomes(tmp_path) == []
    file = tmp_path / "dagster" / "history" / "runs" / "index.db"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database" * 100)
    assert latest_outcomes(tmp_path) == []
