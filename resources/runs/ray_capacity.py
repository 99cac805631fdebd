"""Capacity of a Ray cluster."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

Resources: TypeAlias = Mapping[str, float]
"""Amounts by Ray's names: CPU, GPU, memory (bytes), and whatever nodes were started with."""

_OPTIONS = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}
_PAGE = "/api/cluster_status"


@dataclass(frozen=True, slots=True)
class Room:
    """What nodes have in all, and what is asked for and finds no place."""

    nodes: Sequence[Resources]
    waiting: Sequence[Resources]

    def is_waited_for(self, needs: Resources) -> bool:
        """Whether something that needs as much waits for room."""
        return any(
            one.keys() == needs.keys()
            and all(isclose(one[name], amount, rel_tol=1e-3) for name, amount in needs.items())
            for one in self.waiting
        )

    def why_nowhere(self, needs: Resources) -> str:
        """Say why no node that is there could ever hold what is needed; "" if one could."""
        return why_none_of(self.nodes, needs)


def room_of(client: "JobSubmissionClient") -> Room | None:
    """Ask the head; None if it does not say, as a moment after its start."""
    answer = client._do_request("GET", _PAGE)  # its own client has no name for it
    if answer.status_code != 200:
        return None
    return read(answer.json())


def read(said: Any) -> Room | None:  # noqa: ANN401 - JSON
    """Read what a head says; None if it says something else than what is known of it.

    >>> report = {"resourceDemand": [[{"GPU": 1.0}, 3]], "nodeTypes": [[{"CPU": 2.0}, 2]]}
    >>> read({"data": {"clusterStatus": {"loadMetricsReport": report}}})
    Room(nodes=[{'CPU': 2.0}, {'CPU': 2.0}], waiting=[{'GPU': 1.0}])
    """
    try:
        report = said["data"]["clusterStatus"]["loadMetricsReport"]
        nodes = [dict(one) for one, n in report["nodeTypes"] for _ in range(n)]
        return Room(nodes, [dict(one) for one, _ in report["resourceDemand"]])
    except (TypeError, KeyError, ValueError):
        return None


def resources_of(options: str) -> Resources:
    """What a run takes, of its tag ``dagster-ray/config``; nothing if that is damaged.

    >>> resources_of('{"num_cpus": 1, "num_gpus": 0, "resources": {"a100": 0.5}}')
    {'CPU': 1, 'a100': 0.5}
    """
    try:
        said = json.loads(options)
        named = {name: said.get(of) for name, of in _OPTIONS.items()}
        named |= said.get("resources") or {}
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}
    return {name: amount for name, amount in named.items() if amount}


def why_none_of(nodes: Sequence[Resources], needs: Resources) -> str:
    """Say why none of the nodes has what is needed; "" if one has.

    >>> why_none_of([{"CPU": 2.0}, {"CPU": 4.0}], {"CPU": 1, "GPU": 1})
    'no node of the 2 has CPU 1 (the most is 4), GPU 1 (the most is 0)'
    """
    if any(all(node.get(name, 0) >= amount for name, amount in needs.items()) for node in nodes):
        return ""
    most = {name: max((node.get(name, 0) for node in nodes), default=0) for name in needs}
    said = ", ".join(f"{name} {needs[name]:g} (the most is {most[name]:g})" for name in needs)
    return f"no node of the {len(nodes)} has {said}"
