"""A home folder that watches checkpoints, and stand-ins for what they start."""

import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import dagster as dg
from dagster._core.test_utils import create_run_for_test

from bench_assets.asset_factory.evaluation_tables import questions_key
from bench_assets.catalog import load_catalog
from bench_assets.evaluation.task import Task
from bench_resources.config.bench_toml import Settings, load_settings
from bench_sensors.checkpoints import watch_folders
from bench_sensors.evaluations import SuiteTables, Tables
from bench_sensors.quick_evaluation import quick_evaluation_key

CATALOG = load_catalog()


def suite_tables(tasks: Iterable[Task], outputs: Sequence[dg.AssetKey]) -> SuiteTables:
    """The tables of a suite with these tasks; ``outputs`` are what an evaluation makes."""
    model_tasks = [task for task in tasks if task.asked_of == "model"]
    return SuiteTables(
        questions=[dg.AssetKey(questions_key(task, "main")) for task in model_tasks],
        quick_outputs=[quick_evaluation_key(task) for task in model_tasks],
        outputs=outputs,
        metrics=outputs,
    )


TABLES: Tables = {
    suite.name: suite_tables(suite.tasks, [dg.AssetKey([suite.name, "metrics"])])
    for suite in CATALOG.suites
}
"""In these tests an evaluation of a suite makes one table, its metrics."""


class Daemon:
    """Applies the results of ticks as Dagster's daemon does: partitions, runs by key, cursor."""

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.settings, self.instance = settings, instance
        self.cursor: str | None = None
        self.skip_message = ""

    def tick(self, after: float = 1.0) -> list[str]:
        """Evaluate the sensor some seconds from now, and return the keys of the requested runs."""
        now = time.time() + after
        result = watch_folders(self.instance, self.settings, TABLES, self.cursor, now)
        for change in result.dynamic_partitions_requests or []:
            if isinstance(change, dg.AddDynamicPartitionsRequest):
                self.instance.add_dynamic_partitions("model", change.partition_keys)
            else:
                for key in change.partition_keys:
                    self.instance.delete_dynamic_partition("model", key)
        for request in result.run_requests or []:
            self.start(request)
        self.cursor = result.cursor or self.cursor
        self.skip_message = str(result.skip_reason.skip_message) if result.skip_reason else ""
        return [str(request.run_key) for request in result.run_requests or []]

    def partitions(self) -> list[str]:
        """Names of the checkpoints that are partitions, without their digests."""
        keys = self.instance.get_dynamic_partitions("model")
        return sorted(key.rpartition("@")[0] for key in keys)

    def end_runs(self) -> None:
        for run in self.instance.get_runs():
            self.instance.report_run_failed(run)

    def start(self, request: dg.RunRequest) -> None:
        """Create the requested run, unless there is one with its key."""
        tags = {
            **request.tags,
            "dagster/run_key": request.run_key or "",
            "dagster/partition": request.partition_key or "",
        }
        same_key = dg.RunsFilter(tags={"dagster/run_key": tags["dagster/run_key"]})
        if not self.instance.get_runs(same_key):
            create_run_for_test(
                self.instance,
                job_name=request.job_name or "",
                tags=tags,
                asset_selection=frozenset(request.asset_selection or ()),
            )


def short_keys(run_keys: list[str]) -> list[str]:
    """Shorten run keys: ``a/step-1@01234567/codis/1`` -> ``a/step-1 codis``.

    An attempt after the first stays: ``a/step-1 codis/2``.
    """
    return [re.sub(r"@\w+/", " ", key).removesuffix("/1") for key in run_keys]


def watch_runs(
    home: Path, further: str = "", suites: str = '["codis"]', folders: str = '["../runs"]'
) -> Settings:
    """Write a bench.toml that watches ``runs`` beside the home folder, and read it."""
    home.mkdir(exist_ok=True)
    (home / "bench.toml").write_text(
        f"[checkpoints]\nfolders = {folders}\nsettle_seconds = 0\nsuites = {suites}\n{further}\n"
    )
    return load_settings(home)


def record_question_tables(instance: dg.DagsterInstance, *suites: str) -> dg.DagsterInstance:
    """Record that the question tables of suites, by default of all, were built."""
    for suite in suites or TABLES:
        for key in TABLES[suite].questions:
            record_materialization(instance, key)
    return instance


def record_quick_evaluation(instance: dg.DagsterInstance, suite: str, checkpoint: str) -> None:
    """Record that a checkpoint answered the first questions of a suite."""
    for key in TABLES[suite].quick_outputs:
        record_materialization(instance, key, checkpoint)


def record_materialization(
    instance: dg.DagsterInstance, key: dg.AssetKey, partition: str | None = None, content: str = "1"
) -> None:
    tags = {"dagster/data_version": content}
    event = dg.AssetMaterialization(asset_key=key, partition=partition, tags=tags)
    instance.report_runless_asset_event(event)
