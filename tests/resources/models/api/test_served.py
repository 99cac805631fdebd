"""Servers that are started for weights: asked, known by what they serve, and ended."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import CONTEXT_FULL, Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import fingerprint, pin
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.images.store import ImageStore
from bench_resources.models.managed.engine import ServedEngine
from bench_resources.models.registry.opening import Models
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.chat_server import Answer, ChatServer
from tests.resources.models.api.asking import requests_for
from tests.resources.models.api.serving import command, engine, responses_to, texts_of
from tests.resources.stores import response_file
from tests.sensors.watched import write_checkpoint


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "run" / "step", b"1234")


def until(met: Callable[[], bool], within: float = 30) -> None:
    """Wait; busy machines take long to start and to end anything."""
    given_up = time.monotonic() + within
    while not met():
        assert time.monotonic() < given_up
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is read
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def test_weights_are_served_and_respond_and_the_server_ends(weights: Path, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    with engine(weights, tmp_path, f"starts={starts}", "loading=2") as served:
        assert texts_of(responses_to(served, "a", "b")) == ["1234 a", "1234 b"]
        assert texts_of(responses_to(served, "c")) == ["1234 c"]
        (pid,) = map(int, lines(starts))  # one server for both askings
        assert is_running(pid)
    assert not is_running(pid)


def test_a_server_without_a_page_for_its_health_is_ready_when_it_lists_models(
    weights: Path, tmp_path: Path
) -> None:
    with engine(weights, tmp_path, "health=no") as served:
        assert texts_of(responses_to(served, "a")) == ["1234 a"]


def remembering(
    weights: Path, tmp_path: Path, *texts: str, flag: str = "flag=1", **fields: object
) -> tuple[list[str], int]:
    """Responses, and how many were asked in all so far."""
    requests_file = tmp_path / "asked"
    requests = [Request(prompt=Prompt.of(text)) for text in texts]
    with engine(weights, tmp_path, f"asked={requests_file}", flag, **fields) as served:
        served.prepare()
        model = CachingModel("m", served, response_file(tmp_path / "responses.sqlite"))
        return [response.text for response in model.response(requests)], len(lines(requests_file))


def test_the_same_weights_at_another_address_and_in_another_folder_share_responses(
    weights: Path, tmp_path: Path
) -> None:
    assert remembering(weights, tmp_path, "a", "b") == (["1234 a", "1234 b"], 2)
    moved = weights.rename(tmp_path / "elsewhere")
    assert remembering(moved, tmp_path, "a", "b") == (["1234 a", "1234 b"], 2)


def test_other_weights_in_the_same_folder_share_no_responses(weights: Path, tmp_path: Path) -> None:
    assert remembering(weights, tmp_path, "a") == (["1234 a"], 1)
    write_checkpoint(weights, b"4321")
    assert remembering(weights, tmp_path, "a") == (["4321 a"], 2)


def test_another_command_shares_no_responses(weights: Path, tmp_path: Path) -> None:
    assert remembering(weights, tmp_path, "a")[1] == 1
    assert remembering(weights, tmp_path, "a", flag="flag=2")[1] == 2


@pytest.mark.parametrize(
    ("options", "fields", "message"),
    [
        pytest.param(
            ["ends=3"],
            {},
            r"(?s)code 3\n.*no such architecture, says the stand-in\n.*full log: .*step\.log",
            id="one that dies at its start says why",
        ),
        pytest.param(
            ["loading=9999"],
            {"start_timeout": 0.5},
            r"is not ready after 0.5 s \(start_timeout\)\n",
            id="one that never comes up is not waited for without an end",
        ),
        pytest.param(["root=/"], {}, r"is / \(expected ", id="one that says it has other weights"),
        pytest.param(
            [], {"serve": "no-such-program {path} {port}"}, "no program no-such-program", id="none"
        ),
    ],
)
def test_what_is_refused_before_it_is_served(
    weights: Path, tmp_path: Path, options: list[str], fields: dict[str, object], message: str
) -> None:
    with engine(weights, tmp_path / "said", *options, **fields) as served:
        for _ in range(2):  # a run keeps its engine for the next asset
            with pytest.raises(ModelError, match=message):
                responses_to(served, "a")


def test_weights_that_change_while_the_server_starts_are_refused(
    weights: Path, tmp_path: Path
) -> None:
    changing = f"writes={weights / 'config.json'}"
    with (
        engine(weights, tmp_path / "said", changing) as served,
        pytest.raises(ModelError, match=r"config\.json: not "),
    ):
        responses_to(served, "a")


def test_a_start_can_be_interrupted(weights: Path, tmp_path: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    starts, here = tmp_path / "starts", os.getpid()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with engine(weights, tmp_path / "s", f"starts={starts}", "loading=99999") as served:
            threading.Thread(
                target=lambda: (until(lambda: bool(lines(starts))), os.kill(here, signal.SIGALRM))
            ).start()
            with pytest.raises(KeyboardInterrupt):
                responses_to(served, "a")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not is_running(int(lines(starts)[0]))


def test_a_missing_folder_is_an_error_before_anything_starts(tmp_path: Path) -> None:
    with (
        engine(tmp_path / "none", tmp_path) as served,
        pytest.raises(ModelError, match=r"path = .*none: no such folder"),
    ):
        served.prepare()


@pytest.mark.parametrize(
    "sent", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_no_server_outlives_the_process_that_started_it(
    weights: Path, tmp_path: Path, sent: signal.Signals
) -> None:
    starts, child = tmp_path / "starts", tmp_path / "child"
    ours = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.resources.models.api.serving"),
            *(str(weights), str(tmp_path / "s"), f"starts={starts}", f"child={child}"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    )
    assert ours.stdout
    assert ours.stdout.readline() == "1234 ?\n"
    pids = [*map(int, lines(starts)), int(child.read_text(encoding="utf-8"))]
    assert all(map(is_running, pids))
    ours.send_signal(sent)
    ours.wait()
    until(lambda: not any(map(is_running, pids)))
    ours.stdout.close()


def test_one_server_is_for_all_that_a_run_asks_and_ends_with_it(tmp_path: Path) -> None:
    weights, starts = write_checkpoint(tmp_path / "runs" / "step-1"), tmp_path / "starts"
    serve = command(f"starts={starts}")
    (tmp_path / "bench.toml").write_text(
        f"[checkpoints]\nfolders = ['runs']\nserve = '''{serve}'''\n", encoding="utf-8"
    )
    models = Models(
        settings=load_settings(tmp_path),
        image_store=ImageStore(folder=str(tmp_path / "i")),
    )
    for text in ("a", "b"):  # two suites
        with models.open(f"step-1@{fingerprint(weights)}") as model:
            (response,) = model.response([Request(prompt=Prompt.of(text))])
            assert response.text == f"1234 {text}"
            assert pin(str(weights)).content in model.signature
    (pid,) = map(int, lines(starts))
    assert is_running(pid)
    models.close()
    assert not is_running(pid)


@pytest.mark.parametrize(("context", "refused"), [(2, CONTEXT_FULL), (3, "")], ids=["2", "3"])
def test_a_response_to_more_tokens_than_the_model_reads_is_none(
    weights: Path, tmp_path: Path, context: int, refused: str
) -> None:
    config = weights / "config.json"  # `transformers serve` answers prompts of any length
    read = json.loads(config.read_text())
    config.write_text(json.dumps({**read, "text_config": {"max_position_embeddings": context}}))
    with engine(weights, tmp_path, server="transformers") as served:
        (response,) = responses_to(served, "a")  # of two tokens, and one more
    assert (response.refused, response.text) == (refused, "" if refused else "1234 a")


ANSWERED = [
    pytest.param("m", "", id="the model"),
    pytest.param("m@main", "", id="with its revision, as transformers serve names it"),
    pytest.param("other", r"answered by the model other \(expected m\)", id="another"),
    pytest.param("m-2024-08-06", r"answered by the model m-2024-08-06 \(expected m\)", id="a step"),
    pytest.param(None, r"answered by the model without a name \(expected m\)", id="none"),
]


@pytest.mark.parametrize(("name", "error"), ANSWERED)
def test_who_answers_for_a_checkpoint_of_another_s_server_is_checked_in_every_response(
    weights: Path, tmp_path: Path, name: str | None, error: str
) -> None:
    with ChatServer(lambda _: Answer(text="B", model=name)) as server:
        fields = {"path": str(weights), "model": "m", "base_url": server.base_url}
        spec = ServerSpec.model_validate({"kind": "server", **fields})
        store = response_file(tmp_path / "responses.sqlite")
        engine = ServedEngine(spec, "m", lambda _: b"", tmp_path)
        engine.prepare()
        one = CachingModel("m", engine, store)
        with pytest.raises(ModelError, match=error) if error else nullcontext():
            assert one.response(requests_for("?"))[0].text == "B"
    assert len(list(store.rows())) == (0 if error else 1)  # none is kept
