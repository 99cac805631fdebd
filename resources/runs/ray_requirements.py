"""Resources and folders that a run needs on a Ray node.

Whether every node of a Ray cluster has the folders that a run reads.

``missing_on_nodes`` sends a job that runs this module on the cluster: who sends runs need not be a
node of it. There a task on each node looks.
"""

import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import dagster as dg

from bench_assets.core.schema.errors import HomeError
from resources.checkpoints.identity import first_line
from resources.config.bench_toml import Settings
from resources.config.sections.base import ModelSpec
from resources.config.sections.local_models import PLAIN_TEMPLATE, LocalSpec
from resources.config.sections.models import BlindSpec
from resources.runs.ray_cluster import connect

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient


_MODEL = "dagster/partition"


def needs_of(run: dg.DagsterRun, settings: Settings) -> dict[str, float]:
    """What a run takes: that of its model, if that has its weights where the run is.

    Raises:
        UnknownNameError: If there is no model of that name, or no more.
    """
    spec = _model_of(run, settings)
    if not isinstance(spec, LocalSpec) or spec.on == "ray":
        return {"cpu": 1}  # its replicas, or a server, have all the rest
    return {"cpu": 1, "gpu": spec.gpus, **spec.needs}


def folders_of(run: dg.DagsterRun, settings: Settings) -> list[str]:
    """Files and folders that every machine must have under the same name for a run.

    Of a run over a model, those of the model; of one that builds questions, the sources.

    Raises:
        UnknownNameError: If there is no model of that name, or no more.
    """
    if spec := _model_of(run, settings):
        return list(dict.fromkeys(_places_of(spec, settings)))
    sources = (settings.sources.get(suite, "") for suite in _suites_of(run))
    return [str(there) for one in sources if one and (there := settings.resolve(one)).exists()]


def _model_of(run: dg.DagsterRun, settings: Settings) -> ModelSpec | None:
    name = run.tags.get(_MODEL)
    if name is None:
        return None
    spec = settings.model(name)
    return settings.model(spec.of) if isinstance(spec, BlindSpec) else spec


def _places_of(spec: ModelSpec, settings: Settings) -> Iterator[str]:
    if not isinstance(spec, LocalSpec):
        return
    template = "" if spec.chat_template == PLAIN_TEMPLATE else spec.chat_template
    for place in (spec.path, spec.base, spec.processor, template):
        if place and ((there := settings.resolve(place)).exists() or Path(place).is_absolute()):
            yield str(there)


def _suites_of(run: dg.DagsterRun) -> Iterable[str]:
    return sorted({key.path[0] for key in run.asset_selection or ()})


Missing: TypeAlias = tuple[str, str]  # a path, "" for any, and what is said of it

_MARK = "bench found: "
_PATIENCE = 120.0  # s for the whole cluster
_OF_A_NODE = 60.0  # s for a node to say what it has
_BETWEEN = 0.3  # s between two looks at the job


def missing_on_nodes(client: "JobSubmissionClient", paths: Sequence[str]) -> list[Missing]:
    """Say which nodes do not have which paths, or do not answer.

    Raises:
        HomeError: If the cluster runs no such job within two minutes.
    """
    command = [sys.executable, "-m", __name__, *paths]
    job = client.submit_job(entrypoint=shlex.join(command), entrypoint_num_cpus=0)
    until = time.monotonic() + _PATIENCE
    while not (status := client.get_job_status(job)).is_terminal():
        if time.monotonic() > until:
            client.stop_job(job)
            raise HomeError(f"the Ray cluster did not look at its nodes within {_PATIENCE:.0f} s")
        time.sleep(_BETWEEN)
    said = str(client.get_job_logs(job))
    for line in said.splitlines():
        if line.startswith(_MARK):
            try:
                return [(str(path), str(said)) for path, said in json.loads(line[len(_MARK) :])]
            except (ValueError, RecursionError, TypeError):  # a line that was cut off
                continue
    last = (said.strip().splitlines() or [str(client.get_job_info(job).message)])[-1]
    raise HomeError(f"the Ray cluster could not look at its nodes ({status.value}): {last}")


def look(paths: Sequence[str]) -> list[Missing]:
    """Have every node that may run something look for paths; called on the cluster."""
    connect()
    import ray
    from ray.exceptions import RayError
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    looking = {}
    for node in ray.nodes():
        if node["Alive"] and node["Resources"].get("CPU"):
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            task = ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(_missing)
            looking[task.remote(list(paths))] = str(node["NodeManagerAddress"])
    found: list[Missing] = []
    ray.wait(list(looking), num_returns=len(looking), timeout=_OF_A_NODE)
    for one, node in looking.items():
        try:
            there_not = ray.get(one, timeout=0.1)
            found += [(path, f"node {node} has no {path}") for path in there_not]
        except RayError as why:
            found.append(("", f"node {node} does not answer: {first_line(why)}"))
    return found


def _missing(paths: list[str]) -> list[str]:
    return [path for path in paths if not Path(path).exists()]


if __name__ == "__main__":
    print(_MARK + json.dumps(look(sys.argv[1:])), flush=True)
