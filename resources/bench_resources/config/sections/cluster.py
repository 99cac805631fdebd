"""Sections ``[cluster]`` and ``[storage]``."""

import re
from typing import Annotated, Literal, Self, TypeAlias
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, field_validator, model_validator

from bench_resources.config.addresses import template_of
from bench_resources.config.sections.base import StrictSection

SERVER_POOL = "server"
"""Pool of models on servers that are not started here; each address has one of its own."""

POOL_LIMITS = {"gpu": 1, "judge": 4, SERVER_POOL: 4}
"""Default number of concurrent runs per pool: one loads weights, a few wait for each server."""

MAX_SLOTS = 1000
"""Most slots of a pool that Dagster allows."""

MAX_RUNS = 4
"""Default number of concurrent runs of all kinds, as in the repository's ``dagster.yaml``."""

_WEEK = 7 * 86_400  # s of a week

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}", re.ASCII)
_ADDRESS = re.compile(r"https?://[^/@#?\s:]+(:\d{1,5})?/?", re.ASCII)


def pool_at(address: str) -> str:
    """Pool of the models at an address of a server.

    >>> pool_at("http://127.0.0.1:8000/v1")
    'server@127.0.0.1:8000'
    """
    return f"{SERVER_POOL}@{urlsplit(address).netloc.rpartition('@')[2]}"


def base_pool(pool: str) -> str:
    """The pool whose limit applies to a pool: ``server`` for that of an address.

    >>> base_pool("server@127.0.0.1:8000"), base_pool("gpu")
    ('server', 'gpu')
    """
    return pool.partition("@")[0]


def _check_pool_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(
            'expected a name like "gpu" or "gpu-80gb": lower-case letters, digits, "-" and "_"'
        )
    return name


def _parse_address(address: str) -> str:
    if address and not _ADDRESS.fullmatch(address):
        raise ValueError(
            'expected an address like "http://head:8265", without a password: Ray reads its token'
            " from the environment, RAY_AUTH_TOKEN"
        )
    return template_of(address.rstrip("/"))


PoolName: TypeAlias = Annotated[str, AfterValidator(_check_pool_name)]
PoolLimit: TypeAlias = Annotated[int, Field(ge=1, le=MAX_SLOTS, strict=True)]


class ClusterSettings(StrictSection):
    """A section ``[cluster]``; without it all runs are processes of this machine."""

    launcher: Literal["local", "ray", "slurm", "k8s"] = "local"
    """Where runs start: on this machine, Ray, Slurm or Kubernetes (``deploy/values.yaml``)."""
    address: Annotated[str, AfterValidator(_parse_address)] = ""
    """Address of Ray's job server, such as ``http://head:8265``."""
    partition: str = ""
    """Partition of Slurm."""
    account: str = ""
    """Account of Slurm."""
    sbatch: tuple[str, ...] = ()
    """Options of every Slurm job, such as ``["--time=04:00:00"]``."""
    runs: PoolLimit = MAX_RUNS
    """Maximum number of concurrent runs, on all machines together."""
    wait_for_room: Annotated[int, Field(ge=0, le=30 * 86_400, strict=True)] = 0
    """Seconds, beyond five minutes, that a launched run may wait for free resources of the cluster;
    default with Slurm: a week."""
    pools: dict[PoolName, PoolLimit] = Field(default_factory=dict)
    """Number of concurrent runs in each pool, on all machines together. The pools ``gpu`` (1),
    ``judge`` (4) and ``server`` (4 for each address) always exist."""
    pool_of: dict[str, PoolName] = Field(default_factory=dict)
    """Pool that the runs of a model hold, by the name of the model or a pattern such as
    ``"big-*"``. The longest match counts."""

    @model_validator(mode="after")
    def _check_launcher(self) -> Self:
        if self.launcher == "ray" and not self.address:
            raise ValueError('launcher = "ray" needs address, such as "http://head:8265"')
        if self.launcher != "ray" and self.address:
            raise ValueError('address needs launcher = "ray"')
        slurm_entries = {"partition", "account", "sbatch"} & self.model_fields_set
        if self.launcher != "slurm" and slurm_entries:
            raise ValueError(f'{min(slurm_entries)} needs launcher = "slurm"')
        for option in self.sbatch:
            if not option.startswith("--"):
                raise ValueError(f'sbatch: expected options like "--time=04:00:00", got {option!r}')
        if self.launcher == "local" and self.wait_for_room:
            raise ValueError("wait_for_room needs a cluster: local runs start at once")
        return self

    @model_validator(mode="after")
    def _check_pools(self) -> Self:
        if unknown := sorted({*self.pool_of.values()} - self.limits.keys()):
            known = ", ".join(sorted(self.limits))
            raise ValueError(
                f"pool_of names {', '.join(unknown)}, which is not in pools (known: {known})"
            )
        return self

    @property
    def room_seconds(self) -> int:
        """Seconds, beyond five minutes, that a launched run may wait."""
        default = _WEEK if self.launcher == "slurm" else 0
        return self.wait_for_room if "wait_for_room" in self.model_fields_set else default

    @property
    def limits(self) -> dict[str, int]:
        """Concurrent runs allowed in each pool."""
        return POOL_LIMITS | self.pools


_ENV_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_STORES = ("s3", "gs", "az")


class StorageSettings(StrictSection):
    """A section ``[storage]``; without it everything is stored in the home folder."""

    database: str = ""
    """``env:NAME``: environment variable with the address of a PostgreSQL database for responses,
    prompts and, with ``objects``, Dagster's records."""
    objects: str = ""
    """Store of tables and images: ``s3://bucket/prefix``, ``gs://bucket/prefix``,
    ``az://container/prefix`` or ``file:///folder``. Credentials come from the environment."""
    endpoint: str = ""
    """Address of an S3-compatible service, such as ``http://store.example.org:9000``; default:
    Amazon's."""
    cache: str = "cache"
    """Folder of local copies of objects, relative to the home."""
    run_history_days: float = Field(90.0, ge=0)
    """Days for which Dagster keeps finished runs. A run is kept longer while a table that it made
    exists. 0: all are kept."""

    @field_validator("database")
    @classmethod
    def _check_database(cls, reference: str) -> str:
        if reference and not _ENV_REFERENCE.fullmatch(reference):
            raise ValueError(
                'expected "env:NAME", with the NAME of an environment variable with the'
                " address of a PostgreSQL database: an address may contain a password, which must"
                " not be in the file"
            )
        return reference

    @field_validator("objects")
    @classmethod
    def _check_objects(cls, location: str) -> str:
        address = _parse_plain_address(location)
        if address.scheme == "file" and not address.netloc and address.path.startswith("/"):
            return location
        if location and not (address.scheme in _STORES and address.netloc):
            raise ValueError(
                'expected "s3://bucket/prefix" (or gs://, az://) or "file:///folder", the absolute'
                " path of a folder"
            )
        if "//" in address.path or {".", ".."} & set(address.path.split("/")):
            raise ValueError('expected a prefix without "//", "." and ".."')
        return template_of(location.rstrip("/"))

    @field_validator("endpoint")
    @classmethod
    def _check_endpoint(cls, endpoint: str) -> str:
        address = _parse_plain_address(endpoint)
        if endpoint and not (address.scheme in ("http", "https") and address.hostname):
            raise ValueError('expected "http://host:port" or "https://host"')
        return template_of(endpoint.rstrip("/"))

    @model_validator(mode="after")
    def _check_endpoint_store(self) -> Self:
        if self.endpoint and not self.objects.startswith("s3:"):
            raise ValueError('endpoint needs objects = "s3://..."')
        return self

    @property
    def shared(self) -> dict[str, str]:
        """Location of shared objects, for Dagster resources."""
        return {"objects": self.objects, "endpoint": self.endpoint}

    @property
    def variable(self) -> str:
        """Name of the environment variable with the database's address; "" without a database."""
        return self.database.removeprefix("env:")

    @property
    def shares_records(self) -> bool:
        """Whether Dagster's records are in the shared database too: only if tables are shared.

        Otherwise a home would take assets for materialized whose tables only another home has.
        """
        return bool(self.database and self.objects)


def _parse_plain_address(text: str) -> SplitResult:
    """Parse an address without credentials."""
    try:
        address = urlsplit(text)
        if address.scheme in ("http", "https"):
            _ = address.port  # raises if it is not a port
    except ValueError:
        raise ValueError("not an address") from None
    if set("@?#") & set(text) or not text.isprintable():
        raise ValueError(
            'expected no "@", "?" or "#": credentials belong in the environment'
            " (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)"
        )
    return address
