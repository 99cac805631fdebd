import json
from datetime import UTC, datetime

import pytest

from bench_assets.annotate.operations import draw_accepted, funnel_rows, proposal_tasks, publish
from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import SettingsError
from bench_assets.report.pages.gold import GoldPage
from bench_assets.report.site.folder import Site
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.images.store import open_image_store
from tests.audit.test_report_page import data

NOW = datetime(2026, 11, 30, 6, tzinfo=UTC)
TASK = "multi/proposals"


def open_home(folder, settings):
    """Open a home with the given text of bench.toml."""
    folder.mkdir(exist_ok=True)
    (folder / "bench.toml").write_text(settings)
    return Workbench(load_settings(folder), ["multi", "codis"])


@pytest.mark.long
def test_people_decide_three_open_keys_and_check_two_accepted_ones(tmp_path):
    home = tmp_path / "home"
    with open_home(home, f'[annotation.tasks."{TASK}"]\n') as bench:
        assert proposal_tasks(bench, "") == proposal_tasks(bench, "multi") == [TASK]
        assert publish(bench, TASK, NOW).units == 3
        n_decided_before = sum(row.decided_by_people for row in funnel_rows(bench, TASK))
        draw_accepted(bench, TASK, 2, NOW)
        assert publish(bench, TASK, NOW).units == 5
        answer_units(
            home / "annotation" / "multi" / "proposals",
            [
                "the key is right",
                "the key is right",
                "the question contradicts itself",
                "the key is right",  # the first of the two accepted ones
                "another answer is right",
            ],
        )
        assert publish(bench, TASK, NOW).done == 5
        rows = funnel_rows(bench, TASK)
        assert sum(row.open for row in rows) == 0
        assert sum(row.decided_by_people for row in rows) == n_decided_before + 5
        assert sum(row.checked for row in rows) == 2
        assert sum(row.wrong for row in rows) == 1
        site = Site(home / "report", open_image_store(bench.settings))
        GoldPage().write(site, bench.tables, load_catalog(bench.settings))
        site.finish()
        (suite,) = [suite for suite in data(home, "gold") if suite["suite"] == "multi"]
        assert [row["proposed"] for row in suite["funnel"]] == [row.proposed for row in rows]
        assert suite["open"] == []


def answer_units(folder, verdicts):
    """Write one person's verdicts on the units of a folder, in their order."""
    units = [json.loads(line)["unit"] for line in (folder / "units.jsonl").open()]
    answers = [
        {"unit": unit, "person": "ada", "values": {"verdict": verdict}}
        for unit, verdict in zip(units, verdicts, strict=True)
    ]
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)))


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        pytest.param("", "no task is configured", id="none is active"),
        pytest.param("codis", "codis: no questions are proposed", id="nothing is proposed"),
    ],
)
def test_a_suite_without_proposals_or_a_task_is_refused(tmp_path, suite, reason):
    with open_home(tmp_path / "home", "") as bench, pytest.raises(SettingsError, match=reason):
        proposal_tasks(bench, suite)
