"""The section ``[cluster]`` of bench.toml: where runs run, how many at once, and in which pools."""

import re
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from resources.config.sections.base import Strict

POOLS = {"gpu": 1, "judge": 4}
"""Runs that may hold a pool at once: one loads weights, a few wait for judges."""

RUNS = 4
"""Runs at once, of whatever kind; ``dagster.yaml`` of the checkout says the same."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}", re.ASCII)
_ADDRESS = re.compile(r"https?://[^/@#?\s:]+(:\d{1,5})?/?", re.ASCII)


def _is_pool(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError('should be like "gpu" or "gpu-80gb": small letters, digits, "-" and "_"')
    return name


def _is_address(written: str) -> str:
    if written and not _ADDRESS.fullmatch(written):
        raise ValueError(
            'should be like "http://head:8265", without name and password: Ray takes its token'
            " from the environment, RAY_AUTH_TOKEN"
        )
    return written.rstrip("/")


PoolName: TypeAlias = Annotated[str, AfterValidator(_is_pool)]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=1000, strict=True)]  # Dagster takes no more


class ClusterSettings(Strict):
    """A section ``[cluster]``; without it all runs are processes of this machine."""

    launcher: Literal["local", "ray", "k8s"] = "local"
    """What starts a run: this machine, a Ray cluster, Kubernetes."""
    address: Annotated[str, AfterValidator(_is_address)] = ""
    """``http://head:8265``: where Ray takes jobs."""
    runs: Limit = RUNS
    """Runs at once, on all machines together."""
    wait_for_room: Annotated[int, Field(ge=0, le=30 * 86_400, strict=True)] = 0
    """s for which a run that was sent off may wait, beyond five minutes, until the cluster has room
    for it; then a run is waited for, too, for which no node is large enough: a cluster may grow."""
    pools: dict[PoolName, Limit] = Field(default_factory=dict)
    """Pool -> runs that may hold it at once, on all machines together; one a class of resources.
    ``gpu`` and ``judge`` are there without being named."""
    pool_of: dict[str, PoolName] = Field(default_factory=dict)
    """Model, or a pattern such as "big-*" -> the pool that its runs hold instead of ``gpu``; of
    several that fit the longest counts."""

    @model_validator(mode="after")
    def _names_an_address_where_there_is_one(self) -> Self:
        if self.launcher == "ray" and not self.address:
            raise ValueError('launcher = "ray" needs address = "http://head:8265": Ray\'s jobs')
        if self.launcher != "ray" and self.address:
            raise ValueError('address is of launcher = "ray", and of nothing else')
        if self.launcher == "local" and self.wait_for_room:
            raise ValueError("wait_for_room is of a cluster: runs of this machine start at once")
        return self

    @model_validator(mode="after")
    def _knows_its_pools(self) -> Self:
        if unknown := sorted({*self.pool_of.values()} - self.limits.keys()):
            named, known = ", ".join(unknown), ", ".join(sorted(self.limits))
            raise ValueError(f"pool_of names {named}, which pools has not; known: {known}")
        return self

    @property
    def limits(self) -> dict[str, int]:
        """Every pool there is, and how many runs may hold it at once."""
        return POOLS | self.pools
