"""Servers behind vllm-router: one is killed, machines come and go, none answers for another."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import httpx
import psutil
import pytest

from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import pin_served
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.managed.engine import ServedEngine
from bench_resources.models.managed.process import free_port, program
from bench_resources.response_cache.caching_model import CachingModel
from tests.chat_server import Answer, ChatServer
from tests.resources.models.api.asking import requests_for
from tests.resources.models.api.serving import asked, engine, said_by
from tests.resources.models.api.test_served import is_running, lines, until
from tests.resources.stores import response_file
from tests.sensors.watched import write_checkpoint

TEXTS = [f"question {n}" for n in range(80)]
EXPECTED = [f"1234 {text}" for text in TEXTS]


def has_router() -> bool:
    try:
        return bool(program("vllm-router"))
    except ModelError:
        return False


needs_router = pytest.mark.skipif(
    not has_router(), reason="make cluster-check installs vllm-router"
)
routed = [pytest.mark.long, needs_router]


ADDED = {
    "logprobs": False,
    "stream": False,
    "ignore_eos": False,
    "skip_special_tokens": True,
    "include_reasoning": True,
    "continue_final_message": False,
    "no_stop_trim": False,
    "separate_reasoning": True,
    "stream_reasoning": True,
    "return_hidden_states": False,
}
"""What the router adds to a request: the defaults of vLLM and SGLang."""


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "run" / "step", b"1234")


@contextmanager
def shared_router() -> Iterator[str]:
    """A router that somebody else started, for servers of several models and machines."""
    port, address = free_port(), ""
    options = ("--health-check-interval-secs", "1", "--prometheus-port", str(free_port()))
    process = subprocess.Popen(
        [program("vllm-router"), "--enable-igw", "--port", str(port), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: answers(address))
        yield address
    finally:
        process.kill()
        process.wait()


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/liveness", trust_env=False).is_success
    except httpx.HTTPError:
        return False


def workers(address: str) -> int:
    return int(httpx.get(f"{address}/workers", trust_env=False).json()["total"])


def named(one: ServedEngine, *texts: str) -> set[str]:
    """The names of the models that answered."""
    return {response.served for response in asked(one, *texts)}


class TestOurOwnRouter:
    pytestmark = routed

    def test_one_of_two_servers_is_killed_and_nothing_of_it_is_seen(
        self, weights: Path, tmp_path: Path
    ) -> None:
        asked_file, starts, keys = (tmp_path / name for name in ("asked", "starts", "keys"))
        options = [f"asked={asked_file}", f"starts={starts}", f"keys={keys}", "after=10"]
        options += [f"once={tmp_path / 'died'}", "wait=0.02"]
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("A_KEY", "k3y-0f-4-s3rver-Q7x9")
            fields = {"replicas": 2, "concurrency": 4, "api_key_env": "A_KEY"}
            with engine(weights, tmp_path / "said", *options, **fields) as served:
                responses = asked(served, *TEXTS)
                assert said_by(responses) == EXPECTED
                assert {response.served for response in responses} == {"run/step"}
                until(lambda: len(lines(starts)) == 3)  # the dead one came back
                assert named(served, "?") == {"run/step"}
        times = Counter(lines(asked_file))
        assert set(times) == {*TEXTS, "?"}
        assert sum(times.values()) <= len(TEXTS) + 1 + 4  # what one had in hand
        assert set(lines(keys)) == {"Bearer k3y-0f-4-s3rver-Q7x9"}
        assert not any(is_running(int(pid)) for pid in lines(starts))

    def test_a_server_gets_every_field_that_is_sent_and_further_ones_that_change_nothing(
        self, weights: Path, tmp_path: Path
    ) -> None:
        bodies = tmp_path / "bodies"
        sent = {"top_k": 7, "structured_outputs": {"choice": ["A"]}, "mine": [1, {"a": None}]}
        fields = {"server": "vllm", "chat_template_kwargs": {"thinking": False}, "seed": 3}
        received = []
        for replicas in (1, 2):
            more = {**fields, "extra_body": sent, "replicas": replicas}
            with engine(weights, tmp_path / "said", f"bodies={bodies}", **more) as served:
                assert said_by(asked(served, "a")) == ["1234 a"]
            received.append(json.loads(lines(bodies)[-1]))
        alone, routed = received
        assert {name: routed[name] for name in alone} == alone
        assert {name: routed[name] for name in routed.keys() - alone.keys()} == ADDED

    def test_one_that_never_comes_up_is_given_up_and_the_other_is_asked(
        self, weights: Path, tmp_path: Path
    ) -> None:
        fields = {"replicas": 2, "start_timeout": 20.0}
        with engine(weights, tmp_path / "said", f"hangs={tmp_path / 'hung'}", **fields) as served:
            assert said_by(asked(served, *TEXTS)) == EXPECTED

    def test_the_router_itself_is_killed_and_the_run_says_so(
        self, weights: Path, tmp_path: Path
    ) -> None:
        with engine(weights, tmp_path / "said", replicas=2, max_tries=2) as served:
            assert named(served, "?") == {"run/step"}
            below = psutil.Process().children(recursive=True)
            (router,) = [one for one in below if one.cmdline()[0].startswith("vllm::router")]
            router.kill()
            with pytest.raises(ModelError, match=r"\(the router\)"):
                asked(served, "?")


class TestARouterOfSeveralMachines:
    pytestmark = routed

    def other_machine(self, address: str, weights: Path, said: Path, *options: str):  # type: ignore[no-untyped-def]
        one = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.resources.models.api.serving"),
                *(str(weights), str(said), *options),
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(Path.cwd()), "ROUTER": address},
        )
        assert one.stdout
        assert one.stdout.readline() == "1234 ?\n"
        return one

    def test_a_machine_is_killed_and_the_other_has_all_answers(
        self, weights: Path, tmp_path: Path
    ) -> None:
        asked_there, starts = tmp_path / "there", tmp_path / "starts"
        with shared_router() as address:
            other = self.other_machine(
                address, weights, tmp_path / "other", f"asked={asked_there}", f"starts={starts}",
                "wait=0.02",
            )  # fmt: skip
            (pid,) = map(int, lines(starts))
            fields = {"router": address, "concurrency": 4}
            with engine(weights, tmp_path / "said", "wait=0.02", **fields) as served:
                responses = {}
                for position, response in served.stream(requests_for(*TEXTS)):
                    responses[position] = response
                    if len(responses) == 20:
                        other.kill()
                assert workers(address) == 2
                assert len(lines(asked_there)) > 3  # both were asked
                assert said_by([responses[n] for n in range(len(TEXTS))]) == EXPECTED
                name = f"run/step@{pin_served(str(weights)).content}"
                assert {response.served for response in responses.values()} == {name}
            other.communicate()
            until(lambda: not is_running(pid))
            assert workers(address) == 1  # that of the killed one; ours has left

    def test_two_checkpoints_behind_one_router_answer_each_for_itself_and_never_for_another(
        self, weights: Path, tmp_path: Path
    ) -> None:
        other = write_checkpoint(tmp_path / "run" / "other", b"4321")
        with (
            shared_router() as address,
            engine(weights, tmp_path / "a", router=address) as first,
        ):
            with engine(other, tmp_path / "b", router=address) as second:
                assert said_by(asked(first, *TEXTS)) == EXPECTED
                assert said_by(asked(second, "a", "b")) == ["4321 a", "4321 b"]
                gone = {"path": str(weights), "model": "gone", "base_url": f"{address}/v1"}
                spec = ServerSpec.model_validate({"kind": "server", **gone})
                third = ServedEngine(spec, "gone", lambda _: b"", tmp_path / "c")
                (response,) = asked(third, "?")  # the router answers 200 from any of them
                assert "answered by the model run/step@" in response.error
                assert response.text == ""
            assert said_by(asked(first, "c")) == ["1234 c"]


ANSWERED = [
    pytest.param("m", "", id="the model"),
    pytest.param("m@main", "", id="with its revision, as transformers serve names it"),
    pytest.param("other", r"answered by the model other \(expected m\)", id="another"),
    pytest.param("m-2024-08-06", r"answered by the model m-2024-08-06 \(expected m\)", id="a step"),
    pytest.param(None, r"answered by the model without a name \(expected m\)", id="none"),
]


@pytest.mark.parametrize(("name", "error"), ANSWERED)
def test_who_answers_for_a_checkpoint_behind_a_router_is_checked_in_every_response(
    weights: Path, tmp_path: Path, name: str | None, error: str
) -> None:
    with ChatServer(lambda _: Answer(text="B", model=name)) as server:
        fields = {"path": str(weights), "model": "m", "base_url": server.base_url}
        spec = ServerSpec.model_validate({"kind": "server", **fields})
        store = response_file(tmp_path / "responses.sqlite")
        one = CachingModel("m", ServedEngine(spec, "m", lambda _: b"", tmp_path), store)
        with pytest.raises(ModelError, match=error) if error else nullcontext():
            assert one.response(requests_for("?"))[0].text == "B"
    assert len(list(store.rows())) == (0 if error else 1)  # none is kept


def test_several_servers_without_a_router_say_how_to_install_it(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with (
        engine(weights, tmp_path, replicas=2) as served,
        pytest.raises(ModelError, match=r"no program vllm-router .* pip install 'bench-assets\["),
    ):
        asked(served, "?")
