import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
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
from bench_resources.response_cache.store import ResponseStore
from tests.cases import read_cases
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.checkpoint_files import write_adapter, write_checkpoint
from tests.fakes.home import models_of
from tests.fakes.server_engines import requests_for
from tests.fakes.stores import response_file
from tests.fakes.tiny_checkpoint import save_tiny_vlm
from tests.resources.models.api.serving import open_engine, responses_to, serve_command
from tests.resources.models.managed.fake_vllm import install


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "run" / "step", b"1234")


def wait_until(is_met: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for a condition; busy machines take long to start and to end processes."""
    deadline = time.monotonic() + seconds
    while not is_met():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is read
        return False
    _, _, fields = stat.rpartition(")")  # the program's name is in parentheses
    return not fields.startswith(" Z")  # a zombie has ended


def read_lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def vllm_models(home: Path, weights: Path, program: Path, *entries: str) -> Models:
    """The models of a home whose bench.toml has the checkpoint as ``mine``."""
    required = ['kind = "vllm"', f'path = "{weights}"', f'program = "{program}"']
    return models_of(home, "\n".join(["[models.mine]", *required, *entries]))


def answers_of(models: Models, *texts: str) -> list[str]:
    """The text or error of the response of ``mine`` to each text."""
    with models.open("mine") as model:
        responses = model.response([Request(prompt=Prompt.of(text)) for text in texts])
    return [response.error or response.text for response in responses]


def test_a_checkpoint_is_served_by_the_command_until_the_models_are_closed(weights, tmp_path):
    starts = tmp_path / "starts"
    program = install(tmp_path / "bin", f"starts={starts}", "loading=2")

    with closing(vllm_models(tmp_path, weights, program)) as models:
        assert answers_of(models, "a", "b") == ["1234 a", "1234 b"]
        assert answers_of(models, "c") == ["1234 c"]
        (pid,) = map(int, read_lines(starts))  # one server for both calls
        assert is_running(pid)
    assert not is_running(pid)


def test_entries_of_the_section_become_options_of_the_command(weights, tmp_path):
    words = tmp_path / "words"
    program = install(tmp_path / "bin", f"words={words}")
    entries = ('options = "--max-model-len 64"', "tensor_parallel_size = 2", 'dtype = "float16"')

    with closing(vllm_models(tmp_path, weights, program, *entries)) as models:
        answers_of(models, "a")

    arguments = json.loads(words.read_text(encoding="utf-8"))
    port = arguments[arguments.index("--port") + 1]
    assert arguments == [
        *("serve", str(weights), "--host", "127.0.0.1", "--port", port),
        *("--served-model-name", "mine", "--dtype", "float16", "--generation-config", "vllm"),
        *("--tensor-parallel-size", "2", "--max-model-len", "64"),
    ]


def signature_and_setup(home: Path, weights: Path, program: Path, *entries: str) -> tuple[str, str]:
    with (
        closing(vllm_models(home, weights, program, *entries)) as models,
        models.open("mine") as model,
    ):
        return model.signature, setup_of("mine", models.settings)


def test_the_signature_and_the_setup_depend_on_neither_places_nor_copies(weights, tmp_path):
    program = install(tmp_path / "bin")
    expected = signature_and_setup(tmp_path, weights, program)
    signature, _ = expected
    assert signature.startswith(f"vllm:{pin(str(weights)).content},command=")

    other_program = install(tmp_path / "elsewhere")
    entries = ("data_parallel_size = 4", "needs = { gpu = 4 }")
    assert signature_and_setup(tmp_path, weights, other_program, *entries) == expected
    copy = shutil.copytree(weights, tmp_path / "copy")
    assert signature_and_setup(tmp_path, copy, program) == expected


def test_other_weights_have_another_signature(weights: Path, tmp_path: Path) -> None:
    program = install(tmp_path / "bin")
    signature, _ = signature_and_setup(tmp_path, weights, program)
    write_checkpoint(weights, b"4321")
    other_signature, _ = signature_and_setup(tmp_path, weights, program)
    assert other_signature != signature


@pytest.mark.parametrize("entry", ["tensor_parallel_size = 2", 'options = "--max-model-len 64"'])
def test_options_of_the_engine_change_the_signature_and_the_setup(weights, tmp_path, entry):
    program = install(tmp_path / "bin")
    signature, setup = signature_and_setup(tmp_path, weights, program)
    other_signature, other_setup = signature_and_setup(tmp_path, weights, program, entry)
    assert other_signature != signature
    assert other_setup != setup


def test_other_engines_of_the_same_weights_have_another_signature_and_setup(tmp_path: Path) -> None:
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
    signatures, setups = set(), set()
    with closing(models_of(tmp_path, text, asks=False)) as models:
        for name in sections:
            with models.open(name) as model:
                assert pin(str(weights)).content in model.signature
                signatures.add(model.signature)
                setups.add(setup_of(name, models.settings))
    assert len(signatures) == len(setups) == len(sections)


@pytest.mark.parametrize(
    ("options", "entries", "expected_message"), read_cases(__file__, "failing_servers.jsonl")
)
def test_a_server_that_cannot_serve_is_an_error_and_leaves_no_process(
    weights: Path, tmp_path: Path, options: list[str], entries: list[str], expected_message: str
) -> None:
    starts = tmp_path / "starts"
    program = install(tmp_path / "bin", f"starts={starts}", *options)
    with (
        closing(vllm_models(tmp_path, weights, program, *entries)) as models,
        pytest.raises(ModelError, match=expected_message),
    ):
        answers_of(models, "a", "b", "c", "d")
    pids = [int(line) for line in read_lines(starts)]  # none if it refuses its options
    assert not any(map(is_running, pids))


def test_a_server_that_dies_is_started_again_and_answers_the_rest(weights, tmp_path):
    starts, died = tmp_path / "starts", tmp_path / "died"
    program = install(tmp_path / "bin", f"starts={starts}", "after=5", f"once={died}")
    texts = [f"question {n}" for n in range(20)]
    entries = ("concurrency = 2", "max_tries = 3")
    with closing(vllm_models(tmp_path, weights, program, *entries)) as models:
        assert answers_of(models, *texts) == [f"1234 {text}" for text in texts]
    pids = [int(line) for line in read_lines(starts)]
    assert len(pids) == 2
    assert not any(map(is_running, pids))


def move_tokenizer_up(run: Path) -> Path:
    """Put the tokenizer of a checkpoint into the folder above; return the checkpoint."""
    weights = write_checkpoint(run / "step")
    shutil.move(weights / "tokenizer.json", run)
    return weights


def add_adapter(run: Path) -> Path:
    return write_adapter(run / "adapter", base=str(write_checkpoint(run / "step")))


@pytest.mark.parametrize(
    ("write_weights", "expected_message"),
    [
        pytest.param(
            move_tokenizer_up, r"its tokenizer and processor are in .*/run\. Copy", id="tokenizer"
        ),
        pytest.param(add_adapter, "takes whole weights, not an adapter", id="adapter"),
    ],
)
def test_a_checkpoint_in_two_folders_is_refused_before_a_server_starts(
    tmp_path: Path, write_weights: Callable[[Path], Path], expected_message: str
) -> None:
    starts = tmp_path / "starts"
    program = install(tmp_path / "bin", f"starts={starts}")
    with (
        closing(vllm_models(tmp_path, write_weights(tmp_path / "run"), program)) as models,
        pytest.raises(ModelError, match=expected_message),
    ):
        answers_of(models, "a")
    assert not starts.exists()


@pytest.mark.parametrize(
    ("options", "fields", "expected_message"),
    [
        pytest.param(["root=/"], {}, r"is / \(expected ", id="other weights"),
        pytest.param(
            [], {"serve": "no-such-program {path} {port}"}, "no program no-such-program", id="none"
        ),
    ],
)
def test_a_server_that_is_refused_is_refused_again(
    weights, tmp_path, options, fields, expected_message
):
    """A run keeps its engine for the next asset."""
    with open_engine(weights, tmp_path / "logs", *options, **fields) as served:
        for _ in range(2):
            with pytest.raises(ModelError, match=expected_message):
                responses_to(served, "a")


def test_weights_that_change_while_the_server_starts_are_refused(weights, tmp_path):
    change = f"writes={weights / 'config.json'}"
    with (
        open_engine(weights, tmp_path / "logs", change) as served,
        pytest.raises(ModelError, match=r"config\.json: not "),
    ):
        responses_to(served, "a")


@contextmanager
def interrupted_by_alarm() -> Iterator[None]:
    """Raise KeyboardInterrupt at SIGALRM."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    previous_handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, previous_handler)


def test_an_interrupted_start_leaves_no_server(weights: Path, tmp_path: Path) -> None:
    starts = tmp_path / "starts"

    def signal_when_started() -> None:
        wait_until(lambda: bool(read_lines(starts)))
        os.kill(os.getpid(), signal.SIGALRM)

    with (
        interrupted_by_alarm(),
        open_engine(weights, tmp_path / "logs", f"starts={starts}", "loading=99999") as served,
    ):
        threading.Thread(target=signal_when_started).start()
        with pytest.raises(KeyboardInterrupt):
            responses_to(served, "a")
    (pid,) = map(int, read_lines(starts))
    assert not is_running(pid)


def test_a_missing_folder_is_refused_before_a_server_starts(tmp_path: Path) -> None:
    with (
        open_engine(tmp_path / "none", tmp_path) as served,
        pytest.raises(ModelError, match=r"path = .*none: no such folder"),
    ):
        served.prepare()


@pytest.mark.parametrize(
    "sent_signal", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.long)]
)
def test_no_server_outlives_the_process_that_started_it(weights, tmp_path, sent_signal):
    starts, child = tmp_path / "starts", tmp_path / "child"
    starter = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.resources.models.api.serving"),
            *(str(weights), str(tmp_path / "logs"), f"starts={starts}", f"child={child}"),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path.cwd())},
    )
    assert starter.stdout
    assert starter.stdout.readline() == "1234 ?\n"
    pids = [*map(int, read_lines(starts)), int(child.read_text(encoding="utf-8"))]
    assert all(map(is_running, pids))
    starter.send_signal(sent_signal)
    starter.wait()
    wait_until(lambda: not any(map(is_running, pids)))
    starter.stdout.close()


def test_one_server_answers_for_a_checkpoint_until_the_models_are_closed(tmp_path: Path) -> None:
    weights, starts = write_checkpoint(tmp_path / "runs" / "step-1"), tmp_path / "starts"
    serve = serve_command(f"starts={starts}")
    models = models_of(tmp_path, f"[checkpoints]\nfolders = ['runs']\nserve = '''{serve}'''\n")
    for text in ("a", "b"):  # two suites open the model one after the other
        with models.open(f"step-1@{fingerprint(weights)}") as model:
            (response,) = model.response([Request(prompt=Prompt.of(text))])
            assert response.text == f"1234 {text}"
            assert pin(str(weights)).content in model.signature
    (pid,) = map(int, read_lines(starts))
    assert is_running(pid)
    models.close()
    assert not is_running(pid)


@pytest.mark.parametrize(
    ("context", "text", "refused"),
    [
        pytest.param(2, "", CONTEXT_FULL, id="2 tokens"),
        pytest.param(3, "1234 a", "", id="3 tokens"),
    ],
)
def test_only_a_response_beyond_the_context_of_the_model_is_refused(
    weights: Path, tmp_path: Path, context: int, text: str, refused: str
) -> None:
    config_file = weights / "config.json"
    config = json.loads(config_file.read_text())
    config["text_config"] = {"max_position_embeddings": context}
    config_file.write_text(json.dumps(config))
    # ``transformers serve`` answers prompts of any length.
    with open_engine(weights, tmp_path, server="transformers") as served:
        (response,) = responses_to(served, "a")  # a prompt of two tokens, a response of one
    assert (response.text, response.refused) == (text, refused)


@contextmanager
def answered_by(name: str | None, weights: Path, store: ResponseStore) -> Iterator[CachingModel]:
    """The model ``m`` of a checkpoint on a running server, whose responses name a model."""
    with ChatServer(lambda _: Answer(text="B", model=name)) as server:
        fields = {"path": str(weights), "model": "m", "base_url": server.base_url}
        spec = ServerSpec.model_validate({"kind": "server", **fields})
        engine = ServedEngine(spec, "m", lambda _: b"", weights.parent)
        engine.prepare()
        yield CachingModel("m", engine, store)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("m", id="the model"),
        pytest.param("m@main", id="with its revision, as transformers serve names it"),
    ],
)
def test_a_response_that_names_the_model_of_the_checkpoint_is_cached(weights, tmp_path, name):
    store = response_file(tmp_path / "responses.sqlite")
    with answered_by(name, weights, store) as model:
        (response,) = model.response(requests_for("?"))
    assert response.text == "B"
    assert len(list(store.rows())) == 1


@pytest.mark.parametrize(
    ("name", "shown_name"),
    [
        pytest.param("other", "other", id="another"),
        pytest.param("m-2024-08-06", "m-2024-08-06", id="a dated version"),
        pytest.param(None, "without a name", id="none"),
    ],
)
def test_a_response_that_names_another_model_is_refused(weights, tmp_path, name, shown_name):
    store = response_file(tmp_path / "responses.sqlite")
    with (
        answered_by(name, weights, store) as model,
        pytest.raises(ModelError, match=rf"answered by the model {shown_name} \(expected m\)"),
    ):
        model.response(requests_for("?"))
    assert list(store.rows()) == []
