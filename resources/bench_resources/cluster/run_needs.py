"""Resources that a run needs, in the formats of Ray, Slurm and Kubernetes.

``needs`` in a model's section overrides what follows from its devices and its copies.
Names besides ``cpu``, ``gpu`` and ``memory`` (bytes) are the cluster's own: custom resources of
Ray, generic resources of Slurm, extended resources of Kubernetes.
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

import dagster as dg

from bench_resources.config.bench_toml import Settings
from bench_resources.config.sections.local_models import TransformersSpec
from bench_resources.config.sections.serving import ManagedServerSection
from bench_resources.models.registry.named_models import resolve_name

_COMMON = ("cpu", "gpu", "memory")


def needs_of(run: dg.DagsterRun, settings: Settings) -> dict[str, float]:
    """Resources of a run: those of the model or encoder that it loads or serves, else one CPU.

    Raises:
        UnknownNameError: If its model does not exist any more.
    """
    if run.execution_plan_snapshot_id and not run.run_op_concurrency:  # no pool: it calls no model
        return {"cpu": 1}
    name = run.tags.get("dagster/partition")
    if name in settings.encoders and name not in settings.models:
        device = str(settings.encoders[name].get("device"))
        return {"cpu": 1, "gpu": 1.0 if device.startswith("cuda") else 0.0}
    spec = resolve_name(name, settings).base.spec if name else None
    if isinstance(spec, TransformersSpec) or (
        isinstance(spec, ManagedServerSection) and spec.serve
    ):
        return {"cpu": 1, "gpu": spec.gpus, **spec.needs}
    return {"cpu": 1}


def ray_options(needs: Mapping[str, float]) -> dict[str, Any]:
    """Options of a Ray job; None and 0 where nothing is needed.

    >>> ray_options({"gpu": 1, "a100": 0.5})
    {'num_cpus': 1, 'num_gpus': 1, 'memory': None, 'resources': {'a100': 0.5}}
    """
    return {
        "num_cpus": needs.get("cpu", 1),
        "num_gpus": needs.get("gpu", 0),
        "memory": int(needs["memory"]) if needs.get("memory") else None,
        "resources": _custom_resources(needs),
    }


def sbatch_options(needs: Mapping[str, float]) -> list[str]:
    """Options of ``sbatch``, in whole units.

    >>> sbatch_options({"cpu": 4, "gpu": 2, "memory": 8e9})
    ['--cpus-per-task=4', '--mem=7630M', '--gres=gpu:2']
    """
    generic = {"gpu": needs.get("gpu", 0), **_custom_resources(needs)}
    gres = ",".join(f"{name}:{ceil(amount)}" for name, amount in generic.items() if amount)
    options = [f"--cpus-per-task={max(1, ceil(needs.get('cpu', 1)))}"]
    if memory := needs.get("memory"):
        options.append(f"--mem={ceil(memory / 2**20)}M")
    if gres:
        options.append(f"--gres={gres}")
    return options


def pod_config(needs: Mapping[str, float]) -> dict[str, Any]:
    """The tag ``dagster-k8s/config`` of a run.

    >>> pod_config({"cpu": 4, "gpu": 2})["container_config"]["resources"]["limits"]
    {'nvidia.com/gpu': '2'}
    """
    memory = {"memory": str(int(needs["memory"]))} if needs.get("memory") else {}
    extended = {"nvidia.com/gpu": needs.get("gpu", 0), **_custom_resources(needs)}
    limits = {name: str(ceil(amount)) for name, amount in extended.items() if amount}
    requests = {"cpu": f"{needs.get('cpu', 1):g}", **memory}
    return {"container_config": {"resources": {"requests": requests, "limits": limits | memory}}}


def _custom_resources(needs: Mapping[str, float]) -> dict[str, float]:
    return {name: amount for name, amount in needs.items() if name not in _COMMON}
