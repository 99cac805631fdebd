"""Replicas on two nodes of a Ray cluster, which live, die and are told apart from nothing."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.models.transformers.engine import TransformersEngine
from bench_resources.models.workers.port import Load
from bench_resources.models.workers.ray_replicas import RayEngine
from tests.ray_cluster import OTHER, RayCluster, ray_cluster
from tests.resources.models.transformers import fragile
from tests.resources.models.transformers.tiny_engine import (
    ALBUM,
    MIXED,
    engine_of,
    responses_of,
    said,
    spec_of,
)
from tests.tiny_checkpoint import save_tiny_vlm

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def vlm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_vlm(tmp_path_factory.mktemp("vlm"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with ray_cluster() as started, pytest.MonkeyPatch.context() as patch:
        for name, value in started.variables.items():
            patch.setenv(name, value)
        yield started
        import ray

        ray.shutdown()


@pytest.fixture(autouse=True)
def nobody_stays(cluster: RayCluster) -> Iterator[None]:
    yield
    from ray.util.state import list_actors

    alive = [("state", "=", "ALIVE")]
    until = time.monotonic() + 10  # they are ended, not waited for
    while (left := list_actors(filters=alive, timeout=30)) and time.monotonic() < until:
        time.sleep(0.2)
    assert not left


def asks(folder: Path, load: Load, replicas: int, **fields: object) -> RayEngine:
    needs = {"cpu": 1}
    spec = spec_of(folder, on="ray", replicas=replicas, **{"needs": needs, **fields})
    return RayEngine(TransformersEngine(spec, str(folder), ALBUM.read, load), spec)


def test_two_nodes_response_as_one_machine_does(vlm: Path) -> None:
    requests = [Request(prompt=prompt) for prompt in [*MIXED, *MIXED[::-1]]]
    alone = engine_of(vlm)
    expected = said(responses_of(alone, requests))
    spec = spec_of(vlm, on="ray", replicas=2, batch_size=2)
    one = TransformersEngine(spec, str(vlm), ALBUM.read)
    with closing(RayEngine(one, spec)) as engine:
        assert (engine.identity, engine.decoding) == (alone.identity, alone.decoding)
        assert said(responses_of(engine, requests)) == expected
        assert said(responses_of(engine, requests)) == expected  # the replicas are still there


def test_what_a_dead_replica_leaves_is_asked_elsewhere(vlm: Path, tmp_path: Path) -> None:
    texts = ["a", "bb", f"once {tmp_path / 'mark'}", "ccc"]
    requests = [Request(prompt=Prompt.of(text)) for text in texts]
    with closing(asks(vlm, fragile.load, 2, batch_size=2)) as engine:
        assert [r.text for r in responses_of(engine, requests)] == [t.upper() for t in texts]


def test_what_kills_three_replicas_is_an_error_and_the_rest_is_answered(vlm: Path) -> None:
    requests = [Request(prompt=Prompt.of(text)) for text in ("always", "a", "bb", "ccc")]
    with closing(asks(vlm, fragile.load, 2, batch_size=1)) as engine:
        killer, *others = responses_of(engine, requests)
    assert [response.text for response in others] == ["A", "BB", "CCC"]
    assert killer.error.startswith("the replica on 127.0.0.")
    assert killer.error.endswith(", and two before it on the same requests")


def test_a_checkpoint_that_does_not_load_ends_the_asking_and_names_the_node(vlm: Path) -> None:
    with (
        closing(asks(vlm, fragile.load_nothing, 1)) as engine,
        pytest.raises(ModelError, match=r"^on 127\.0\.0\.[23]: .*no weights today"),
    ):
        list(engine.stream([Request(prompt=MIXED[0])]))


def test_a_node_that_is_killed_costs_only_time(vlm: Path, cluster: RayCluster) -> None:
    texts = [f"{'slow ' * (n % 7)}{n}" for n in range(64)]
    requests = [Request(prompt=Prompt.of(text)) for text in texts]
    with closing(asks(vlm, fragile.load_slow, 2, batch_size=2)) as engine:
        arriving = engine.stream(requests)
        arrived = dict([next(arriving) for _ in range(8)])
        cluster.kill(OTHER)
        for position, response in arriving:
            assert position not in arrived
            arrived[position] = response
    assert [arrived[i].text for i in range(64)] == [text.upper() for text in texts]
    cluster.start_other()
