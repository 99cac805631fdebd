from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from bench_assets.core.schema.rows import LeaderboardRow
from bench_assets.report.building import make_report, parts
from bench_assets.workspace.maintain.removal import find_removable, remove
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings

pytestmark = pytest.mark.long

TABLES = ("codis/questions", "codis/predictions", "codis/scores", "codis/metrics")
_FILES_OF_TABLES = ("compare-", "origins-")  # data files of the report with a digest in their name
Homes: TypeAlias = tuple[Workbench, Workbench]


@pytest.fixture
def storage_section(
    bucket: str, store_endpoint: str, database_address: str, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A section ``[storage]`` of an empty bucket and an empty database."""
    monkeypatch.setenv("TEAM_DATABASE", database_address)
    return (
        f'[storage]\nobjects = "{bucket}/team"\nendpoint = "{store_endpoint}"\n'
        'database = "env:TEAM_DATABASE"\n'
    )


def open_home(home: Path, storage: str) -> Workbench:
    home.mkdir(exist_ok=True)
    (home / "bench.toml").write_text(storage, encoding="utf-8")
    return Workbench(load_settings(home), ["codis"])


def n_runs(bench: Workbench) -> int:
    return int(bench.instance.get_runs_count())


def leaderboard(bench: Workbench) -> list[LeaderboardRow]:
    bench.refresh_leaderboard()
    return bench.rows("leaderboard")


def report_data(bench: Workbench) -> list[str]:
    """Names of the report's data files, with digests where all data is of tables.

    Other files have the results of checks, which each home has of its own runs alone.
    """
    suite_parts = parts(bench.rows("leaderboard"), bench.catalog, bench.settings, ["codis"])
    page = make_report(bench.settings, bench.tables, bench.catalog, suite_parts, print)
    names = sorted(file.name for file in (page.parent / "data").iterdir())
    return [name if name.startswith(_FILES_OF_TABLES) else name.partition(".")[0] for name in names]


def evaluate(bench: Workbench, *models: str) -> None:
    bench.refresh_questions("codis")
    for model in models:
        bench.evaluate(["codis"], model)


@pytest.fixture
def homes(storage_section: str, tmp_path: Path) -> Iterator[Homes]:
    """Homes ``a`` and ``b``, each of which has evaluated one model."""
    with (
        open_home(tmp_path / "a", storage_section) as a,
        open_home(tmp_path / "b", storage_section) as b,
    ):
        evaluate(a, "random")
        evaluate(b, "most-frequent")
        yield a, b


def test_homes_that_share_have_the_tables_of_a_home_that_evaluated_both_models(homes, tmp_path):
    a, b = homes
    with open_home(tmp_path / "alone", "") as alone:
        evaluate(alone, "random", "most-frequent")
        for table in TABLES:
            key = table.split("/")
            for model in alone.tables.partitions(key):
                digest = alone.tables.digest(key, model)
                assert a.tables.digest(key, model) == b.tables.digest(key, model) == digest
        assert leaderboard(a) == leaderboard(b) == leaderboard(alone)
    assert report_data(a) == report_data(b)
    assert not list((tmp_path / "a" / "tables").rglob("*.parquet"))
    exported = [file.name for file in b.tables.export.list()]
    assert exported == ["leaderboard.csv", "leaderboard.parquet"]


def test_a_home_does_not_evaluate_again_what_the_other_has_evaluated(homes: Homes) -> None:
    a, b = homes
    assert leaderboard(a) == leaderboard(b)
    n_runs_before = n_runs(a), n_runs(b)
    a.evaluate(["codis"], "most-frequent")
    b.evaluate(["codis"], "random")
    leaderboard(a)
    assert (n_runs(a), n_runs(b)) == n_runs_before


def test_a_model_that_one_home_removes_is_evaluated_again_by_the_other(homes: Homes) -> None:
    a, b = homes
    removable = find_removable(b, "random")
    assert removable.megabytes > 0
    remove(b, removable, responses=False)
    assert a.tables.partitions(["codis", "metrics"]) == ["most-frequent"]
    n_runs_before = n_runs(a)
    a.evaluate(["codis"], "random")
    assert n_runs(a) == n_runs_before + 1
