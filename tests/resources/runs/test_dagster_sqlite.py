"""Dagster's databases of a home: written as Dagster's own storage does, with an engine for each."""

from collections import Counter
from pathlib import Path

import dagster as dg
import pytest
import sqlalchemy

from bench_assets.workspace.materialization.dagster_instance import open_instance
from resources.runs import dagster_sqlite


@dg.asset
def questions() -> int:
    return 3


@dg.asset
def answers(questions: int) -> int:
    return questions


def test_a_run_makes_one_engine_for_each_database_and_dagsters_own_storage_reads_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Counter[str]()

    def counted(address: str, **options: object) -> sqlalchemy.Engine:
        made[Path(address).name] += 1
        return sqlalchemy.create_engine(address, **options)

    monkeypatch.setattr(dagster_sqlite, "create_engine", counted)
    with open_instance(tmp_path) as instance:
        instance.add_dynamic_partitions("model", ["random"])
        assert instance.has_dynamic_partition("model", "random")
        run_id = dg.materialize([questions, answers], instance=instance).run_id
        said = instance.all_logs(run_id)
    assert made == {"runs.db": 1, "index.db": 1, f"{run_id}.db": 1}

    folder = str(tmp_path / "dagster")
    (tmp_path / "dagster.yaml").write_text(f"storage: {{sqlite: {{base_dir: {folder!r}}}}}\n")
    with dg.DagsterInstance.from_config(str(tmp_path)) as theirs:
        assert theirs.all_logs(run_id) == said
        assert theirs.get_run_by_id(run_id).is_success
        assert theirs.get_latest_materialization_event(dg.AssetKey("answers")).run_id == run_id
