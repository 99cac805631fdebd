from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import dagster as dg
import pytest

from bench_assets.asset_factory.partial_results import partial_tables
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.rows import Metric
from bench_assets.core.schema.signature import Signature
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from tests.fakes.chat_server import ChatServer
from tests.fakes.codis_release import entries, write_release
from tests.workspace.materialization.test_supervisor import Ui, status_of, wait_until

pytestmark = pytest.mark.long

BACKFILL = """
mutation Backfill($models: [String!]!, $assets: [AssetKeyInput!]!) {
  launchPartitionBackfill(backfillParams: {partitionNames: $models, assetSelection: $assets}) {
    __typename ... on PythonError { message }
  }
}
"""
TABLES = ("predictions", "judgements", "scores", "metrics")


@pytest.fixture
def servers() -> Iterator[list[ChatServer]]:
    with ExitStack() as stack:
        yield [stack.enter_context(ChatServer("A", latency=0.5)) for _ in range(2)]


@pytest.fixture
def ui(tmp_path: Path, servers: list[ChatServer]) -> Iterator[Ui]:
    """A home with models ``a`` and ``b`` at one address, and ``c`` at another."""
    write_release(tmp_path / "codis", entries()[:20])
    home = tmp_path / "home"
    home.mkdir()
    first, second = (server.base_url for server in servers)
    sections = [
        '[sources]\ncodis = "../codis"\n[suites.codis]\njudge = "rules"\n',
        "[cluster]\npools = { server = 1 }\n",
    ]
    for name, address in {"a": first, "b": first, "c": second}.items():
        server = f'kind = "server"\nbase_url = "{address}"\nconcurrency = 1\n'
        sections.append(f'[models.{name}]\nmodel = "{name}"\n{server}')
    (home / "bench.toml").write_text("".join(sections))
    with Workbench(load_settings(home), ["codis"]) as bench:
        bench.refresh_questions("codis")
        bench.instance.add_dynamic_partitions(str(MODELS.name), ["a", "b", "c"])
    bench_ui = Ui(home)
    bench_ui.start()
    wait_until(lambda: "errors" not in bench_ui.query("{ assetNodes { id } }"))
    yield bench_ui
    bench_ui.kill()


def test_a_limit_in_the_launchpad_gives_a_partial_number(ui: Ui, servers: list[ChatServer]) -> None:
    run_id = ui.launch("a", ops={"codis__predictions": {"config": {"limit": 20, "seed": 3}}})
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:
        wait_until(lambda: status_of(instance, run_id).value in ("SUCCESS", "FAILURE"))
        assert status_of(instance, run_id) is dg.DagsterRunStatus.SUCCESS
    assert len(servers[0].bodies) == 20
    assert {body["seed"] for body in servers[0].bodies} == {3}
    assert not TableFiles(folder=str(ui.home / "tables")).exists(["codis", "metrics"], "a")
    (metric, *_) = partial_tables(ui.home).read(["codis", "metrics"], Metric, "a")
    signature = Signature.parse(metric.signature)
    assert signature.parts["partial"] == "20 of 40 questions, seed 3"
    assert "seed=3" in signature.parts["model"]


class RunTimes(NamedTuple):
    """When a run started and ended, in seconds since the epoch."""

    start: float
    end: float


def overlap(first: RunTimes, second: RunTimes) -> float:
    """Seconds in which both of two runs went on; negative: the pause between them."""
    return min(first.end, second.end) - max(first.start, second.start)


def test_models_at_two_addresses_run_at_once_and_those_at_one_in_turn(ui: Ui) -> None:
    assets = [{"path": ["codis", table]} for table in TABLES]
    reply = ui.query(BACKFILL, models=["a", "b", "c"], assets=assets)
    assert reply["data"]["launchPartitionBackfill"]["__typename"] == "LaunchBackfillSuccess"
    with dg.DagsterInstance.from_config(str(ui.home / "dagster")) as instance:

        def times_by_model() -> dict[str, RunTimes]:
            """Times of the finished runs of the backfill."""
            times = {}
            for record in instance.get_run_records():
                tags = record.dagster_run.tags
                if record.start_time and record.end_time and "dagster/backfill" in tags:
                    model = tags["dagster/partition"]
                    times[model] = RunTimes(record.start_time, record.end_time)
            return times

        wait_until(lambda: len(times_by_model()) == 3)
        times = times_by_model()
    a, b, c = times["a"], times["b"], times["c"]
    assert max(overlap(a, c), overlap(b, c)) > 1  # s; runs that wait for each other have none
    assert overlap(a, b) <= 0
