"""A run that a command made is found where the UI looks: under the code location it serves."""

import dagster as dg
import pytest
import yaml
from dagster._core.remote_origin import (
    RegisteredCodeLocationOrigin,
    RemoteJobOrigin,
    RemoteRepositoryOrigin,
)

from resources.redaction.dagster_storage import RedactingSqliteStorage
from resources.runs.in_process_runs import LOCATION
from tests.conftest import CHECKOUT

SHOWN = {".dagster/repository": f"__repository__@{LOCATION}"}  # what the timeline asks for


@pytest.fixture
def instance(tmp_path):
    folder = tmp_path / "home" / "dagster"
    folder.mkdir(parents=True)
    storage = {
        "module": RedactingSqliteStorage.__module__,
        "class": RedactingSqliteStorage.__name__,
        "config": {"base_dir": str(folder)},
    }
    (folder / "dagster.yaml").write_text(yaml.safe_dump({"storage": {"custom": storage}}))
    with dg.DagsterInstance.from_config(str(folder)) as opened:
        yield opened


@dg.op
def nothing() -> None:
    """Does nothing."""


@dg.job
def idle() -> None:
    """Does nothing, as a job."""
    nothing()


def test_the_location_is_the_one_that_the_ui_serves():
    served = yaml.safe_load((CHECKOUT / "workspace.yaml").read_text())["load_from"]
    assert [one["python_module"]["location_name"] for one in served] == [LOCATION]


def test_a_run_in_process_is_found_and_is_not_tried_again_by_the_daemon(instance):
    made = idle.execute_in_process(instance=instance)
    (run,) = instance.get_runs(dg.RunsFilter(tags=SHOWN))
    assert run.run_id == made.run_id
    assert run.remote_job_origin.job_name == "idle"
    assert run.tags["dagster/max_retries"] == "0"


def test_a_run_that_was_launched_elsewhere_keeps_its_origin(instance):
    there = RemoteRepositoryOrigin(RegisteredCodeLocationOrigin("elsewhere"), "others")
    origin = RemoteJobOrigin(there, "idle")
    run = dg.DagsterRun("idle", remote_job_origin=origin)
    kept = instance.run_storage.add_run(run)
    assert kept.remote_job_origin == origin
    assert "dagster/max_retries" not in kept.tags
    assert instance.get_runs(dg.RunsFilter(tags=SHOWN)) == []
