"""Runs that were sent to a cluster and have not begun: which are waited for, and for how long."""

import threading
from collections.abc import Iterator

import dagster as dg
import pytest

from resources.runs.ray_capacity import Resources, Room, read, resources_of
from resources.runs.ray_pending_runs import Delays, StartingRuns

NODES: list[Resources] = [{"CPU": 2.0, "GPU": 1.0}, {"CPU": 8.0}]
ONE: Resources = {"CPU": 1.0, "GPU": 1.0}
FOUR: Resources = {"CPU": 1.0, "GPU": 4.0}
FULL = Room(NODES, [ONE, FOUR])
FREE = Room(NODES, [])
NOWHERE = (
    "This run cannot begin: no node of the 2 has CPU 1 (the most is 8), GPU 4 (the most is 1)."
)
LATE = "Ray has had room for this run for 300 s, and it did not begin."


@pytest.mark.parametrize(
    ("looks", "needs", "grows", "said"),
    [
        pytest.param([(0, FULL), (86_400, FULL)], ONE, False, "", id="a full one is waited for"),
        pytest.param([(0, FULL), (40, FULL)], FOUR, False, "", id="a large node may be starting"),
        pytest.param([(0, FULL), (51, FULL)], FOUR, False, NOWHERE, id="none is large enough"),
        pytest.param([(0, FULL), (9_999, FULL)], FOUR, True, "", id="a cluster may grow"),
        pytest.param([(0, FREE), (299, FREE)], ONE, False, "", id="a process may take minutes"),
        pytest.param([(0, FREE), (300, FREE)], ONE, False, LATE, id="it never begins"),
        pytest.param(
            [(0, FREE), (200, FULL), (400, FREE), (699, FREE)], ONE, False, "",
            id="a node went meanwhile, and it waits anew",
        ),
        pytest.param([(0, None), (9_999, None)], ONE, False, "", id="the head does not say"),
        pytest.param([(0, FREE), (290, None), (580, FREE)], ONE, False, "", id="nor for a while"),
    ],
)  # fmt: skip
def test_what_keeps_a_run_is_waited_for_as_long_as_it_may_take(
    looks: list[tuple[float, Room | None]], needs: Resources, grows: bool, said: str
) -> None:
    now = 0.0
    delays, found = Delays(clock=lambda: now), []
    for now, room in looks:  # noqa: B007 - the clock tells it
        found.append(delays.why_over("run", room, needs, grows))
    assert found[:-1] == [""] * (len(looks) - 1)
    assert found[-1] == said


def test_runs_are_waited_for_each_by_itself() -> None:
    times = iter([0.0, 299.0, 300.0, 598.0])
    delays = Delays(clock=lambda: next(times))
    said = [delays.why_over(run, FREE, ONE, waits=False) for run in ("a", "b", "a", "b")]
    assert said == ["", "", LATE, ""]


@pytest.mark.parametrize("said", [None, [], {}, {"data": None}, {"data": {"clusterStatus": None}}])
def test_a_head_that_says_nothing_of_room_is_believed_nothing(said: object) -> None:
    assert read(said) is None


@pytest.mark.parametrize(
    ("tag", "needs"),
    [
        ('{"num_cpus": 2, "memory": 1000, "resources": {"CPUs": 1}}',
         {"CPU": 2, "memory": 1000, "CPUs": 1}),
        ('{"num_gpus": 0.5, "resources": null}', {"GPU": 0.5}),
        ("{}", {}),
        ("[]", {}),
        ("no JSON", {}),
    ],
)  # fmt: skip
def test_what_a_run_takes_is_read_of_its_tag(tag: str, needs: Resources) -> None:
    assert resources_of(tag) == needs


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as opened:
        yield opened


@dg.asset
def nothing() -> None:
    """Makes nothing."""


def test_nobody_looks_once_the_home_is_closed(instance: dg.DagsterInstance) -> None:
    job = dg.Definitions([nothing]).resolve_implicit_global_asset_job_def()
    instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTING)
    looks: list[dg.DagsterRun] = []
    starting = StartingRuns(instance, lambda run: looks.append(run) or "")
    starting.watch()
    assert "starting" in {thread.name for thread in threading.enumerate()}
    starting.stop()
    assert "starting" not in {thread.name for thread in threading.enumerate()}
    starting.watch()
    assert "starting" not in {thread.name for thread in threading.enumerate()}
    assert not looks
