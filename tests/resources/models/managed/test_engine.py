"""Servers that are started for weights, vLLM's among them: known by what they serve, and ended."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path

import pytest

from bench_assets.core.schema.chat import CONTEXT_FULL, Prompt, Request
from bench_assets.core.schema.errors import ModelError
from bench_resources.checkpoints.identity import fingerprint, pin
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.managed.engine import ServedEngine
from bench_resources.models.registry.opening import Models
from bench_resources.models.registry.setup import setup_of
from bench_resources.response_cache.caching_model import CachingModel
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.checkpoint_files import write_adapter, write_checkpoint
from tests.fakes.home import models_of
from tests.fakes.server_engines import requests_for
from tests.fakes.stores import response_file
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.resources.models.api.serving import command, engine, responses_to
from tests.resources.models.managed.fake_vllm import install


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


def opened(home: Path, weights: Path, program: Path, *entries: str) -> Models:
    """The models of a home whose bench.toml has the checkpoint as ``mine``."""
    section = [f'kind = "vllm"\npath = "{weights}"\nprogram = "{program}"', *entries]
    return models_of(home, "\n".join(["[models.mine]", *section]))


def texts_from(models: Models, *texts: str) -> list[str]:
    with models.open("mine") as model:
        responses = model.response([Request(prompt=Prompt.of(text)) for text in texts])
    return [response.error or response.text for response in responses]


def test_a_checkpoint_is_served_by_the_command_and_the_server_ends(
    weights: Path, tmp_path: Path
) -> None:
    words, starts = tmp_path / "words", tmp_path / "starts"
    program = install(tmp_path / "bin", f"words={words}", f"starts={starts}", "loading=2")
    entries = ('options = "--max-model-len 64"', "tensor_parallel_size = 2", 'dtype = "float16"')
    with closing(opened(tmp_path, weights, program, *entries)) as models:
        assert texts_from(models, "a", "b") == ["1234 a", "1234 b"]
        assert texts_from(models, "c") == ["1234 c"]
        (pid,) = map(int, lines(starts))  # one server for both askings
        assert is_running(pid)
    assert not is_running(pid)
    arguments = json.loads(words.read_text(encoding="utf-8"))
    assert (arguments[:4], arguments[5:7]) == (
        ["serve", str(weights), "--host", "127.0.0.1"],
        [arguments[5], "--served-model-name"],
    )
    assert arguments[7:] == [
        *("mine", "--dtype", "float16", "--generation-config", "vllm"),
        *("--tensor-parallel-size", "2", "--max-model-len", "64"),
    ]


def test_the_signature_names_the_engine_and_no_copies(weights: Path, tmp_path: Path) -> None:
    program = install(tmp_path / "bin")
    elsewhere = install(tmp_path / "elsewhere")

    def of(program: Path, *entries: str, served: Path = weights) -> tuple[str, str]:
        with (
            closing(opened(tmp_path, served, program, *entries)) as models,
            models.open("mine") as model,
        ):
            return model.signature, setup_of("mine", models.settings)

    alone = of(program)
    assert alone[0].startswith(f"vllm:{pin(str(weights)).content},command=")
    assert of(elsewhere, "data_parallel_size = 4", "needs = { gpu = 4 }") == alone
    copy = shutil.copytree(weights, tmp_path / "copy")
    assert of(program, served=copy) == alone
    write_checkpoint(copy, b"4321")
    assert of(program, served=copy)[0] != alone[0]
    for entry in ("tensor_parallel_size = 2", 'options = "--max-model-len 64"'):
        signature, setup = of(program, entry)
        assert signature != alone[0]
        assert setup != alone[1]


def test_other_engines_of_the_same_weights_have_another_signature_and_setup(
    tmp_path: Path,
) -> None:
    weights = save_tiny_vlm(tmp_path / "vlm")
    serve = "vllm serve {path} --port {port}"
    sections = {
        "transformers": 'kind = "transformers"',
        "vllm": 'kind = "vllm"',
        "server": f'kind = "server"\nserve = "{serve}"',
    }
    text = "".join(
        f'[models.{name}]\n{section}\npath = "{weights}"\n' for name, section in sections.items()
    )
    named: dict[str, tuple[str, str]] = {}
    with closing(models_of(tmp_path, text, asks=False)) as models:
        for name in sections:
            with models.open(name) as model:
                named[name] = model.signature, setup_of(name, models.settings)
    assert all(pin(str(weights)).content in signature for signature, _ in named.values())
    assert len({signature for signature, _ in named.values()}) == len(sections)
    assert len({setup for _, setup in named.values()}) == len(sections)


@pytest.mark.parametrize(
    ("misbehaves", "entries", "message"),
    [
        pytest.param(
            ["ends=1"],
            [],
            r"(?s)ended with code 1\n.*no such architecture, says the stand-in\n.*full log: ",
            id="one that cannot load the checkpoint says why",
        ),
        pytest.param(
            ["loading=9999"],
            ["start_timeout = 1.0"],
            r"is not ready after 1 s \(start_timeout\)",
            id="one that never becomes healthy is not waited for without an end",
        ),
        pytest.param(
            [],
            ['options = "--no-such-option"'],
            r"(?s)ended with code 2\n.*unrecognized arguments: --no-such-option",
            id="an option that vLLM does not have",
        ),
        pytest.param(
            ["after=1"],
            ["max_tries = 2", "concurrency = 1"],
            "out of memory, says the stand-in",
            id="one that dies again and again",
        ),
    ],
)
def test_what_cannot_serve_ends_the_run_and_leaves_no_process(
    weights: Path, tmp_path: Path, misbehaves: list[str], entries: list[str], message: str
) -> None:
    starts = tmp_path / "starts"
    program = install(tmp_path / "bin", f"starts={starts}", *misbehaves)
    with (
        closing(opened(tmp_path, weights, program, *entries)) as models,
        pytest.raises(ModelError, match=message),
    ):
        texts_from(models, "a", "b", "c", "d")
    assert not any(is_running(int(pid)) for pid in lines(starts))


def test_one_that_dies_in_the_middle_comes_back_and_all_are_answered(
    weights: Path, tmp_path: Path
) -> None:
    starts, died = tmp_path / "starts", tmp_path / "died"
    program = install(tmp_path / "bin", f"starts={starts}", "after=5", f"once={died}")
    texts = [f"question {n}" for n in range(20)]
    entries = ("concurrency = 2", "max_tries = 3")
    with closing(opened(tmp_path, weights, program, *entries)) as models:
        assert texts_from(models, *texts) == [f"1234 {text}" for text in texts]
    assert len(lines(starts)) == 2
    assert not any(is_running(int(pid)) for pid in lines(starts))


@pytest.mark.parametrize(
    ("moved", "message"),
    [
        pytest.param("tokenizer", r"its tokenizer and processor are in .*/run\. Copy", id="above"),
        pytest.param("adapter", "takes whole weights, not an adapter", id="an adapter"),
    ],
)
def test_a_checkpoint_in_two_folders_is_refused_before_anything_starts(
    tmp_path: Path, moved: str, message: str
) -> None:
    starts, run = tmp_path / "starts", tmp_path / "run"
    weights = write_checkpoint(run / "step")
    if moved == "tokenizer":
        shutil.move(weights / "tokenizer.json", run)
    else:
        weights = write_adapter(run / "adapter", base=str(weights))
    program = install(tmp_path / "bin", f"starts={starts}")
    with (
        closing(opened(tmp_path, weights, program)) as models,
        pytest.raises(ModelError, match=message),
    ):
        texts_from(models, "a")
    assert not starts.exists()


@pytest.mark.parametrize(
    ("options", "fields", "message"),
    [
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

    def signal_when_started() -> None:
        until(lambda: bool(lines(starts)))
        os.kill(os.getpid(), signal.SIGALRM)

    starts = tmp_path / "starts"
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with engine(weights, tmp_path / "s", f"starts={starts}", "loading=99999") as served:
            threading.Thread(target=signal_when_started).start()
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
    models = models_of(tmp_path, f"[checkpoints]\nfolders = ['runs']\nserve = '''{serve}'''\n")
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
