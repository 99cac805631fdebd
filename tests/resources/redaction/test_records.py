import json
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote
from zipfile import ZipFile

import dagster as dg
import pyarrow.parquet as pq
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.errors import ModelError
from bench_assets.workspace.materialization.dagster_instance import open_instance
from bench_resources.config.environment import weak_key_warnings
from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench
from tests.fakes.echoing_server import BROKEN, FAILURES, RESPONSES, Echo, EchoingServer
from tests.fakes.home import models_of
from tests.fakes.quiz import TASK, questions_asset, quiz, resources_over
from tests.fakes.server_engines import requests_for
from tests.resources.redaction.test_responses import key_spellings

KEY = "sk-Qu1te/a+l0ng=key~0f-m1ne"
TOKEN = "hf_AToken0fTheHubThatIsMine"
IN_QUERY = "a-k3y-1n-th3-qu3ry-0a1b2c"
IN_BODY = "a-k3y-1n-th3-b0dy-0a1b2c"
KEYS_BY_PLACE = {  # place in the configuration -> key
    "header": KEY,
    "hub": TOKEN,
    "query": IN_QUERY,
    "body": IN_BODY,
    "matrix": "m4tr1x-Qm3x9ZpLw7Rk2Vt5",
    "named": "v4r-Qm3x9ZpLw7Rk2Vt5n4m3d",
    "source": "s0urce-Qm3x9ZpLw7Rk2Vt5",
    "webhook": "w3bh00k-Qm3x9ZpLw7Rk2Vt5",
    "proxy": "pr0xy-Qm3x9ZpLw7Rk2Vt5",
    "database": "d4ta-Qm3x9ZpLw7Rk2Vt5base",
    "people": "p3opl3-Qm3x9ZpLw7Rk2Vt5u",
}
TYPED_KEY = "typ3d-Qm3x9ZpLw7Rk2Vt5cl1"
ALL_KEYS = tuple(KEYS_BY_PLACE.values())

TOML = """
[sources]
blink = "https://me:{source}@example.org/x.zip#sha256={sha}"
[benchmarks.echoes]
file = "echoes.jsonl"
[checkpoints]
webhook_env = "ROOM"
[annotation]
url = "https://labels.example.org/?token={people}"
[models.m]
kind = "server"
base_url = "{url}/{{IN_PATH}}/v1;key={matrix}?subscription-key={query}"
model = "m"
api_key_env = "MY_KEY"
max_tries = 2
concurrency = 1
extra_body = {{ metadata = {{ api_key = "{body}" }} }}
[models.gone]
kind = "server"
base_url = "http://gone.invalid:1/v1?code={query}"
model = "m"
max_tries = 1
"""


@dg.asset
def leaking_asset(context: dg.AssetExecutionContext) -> None:
    """Log, record and raise keys in every way that Dagster has."""
    context.log.warning("with %s", KEY)
    for key in ALL_KEYS:
        context.log.info("%s, %s, %r", key, quote(key), {"key": key})
    logging.getLogger("bench_assets.server").warning("again with %s", IN_BODY)
    context.add_output_metadata({"key": KEY, "both": dg.MetadataValue.json({"a": [KEY, TOKEN]})})
    context.log_event(dg.AssetObservation("seen", metadata={KEY: dg.MetadataValue.md(IN_QUERY)}))
    try:
        raise ValueError(f"Bearer {KEY}")
    except ValueError as error:
        raise ModelError(f"no response with {TOKEN}") from error


def evaluate(home: Path, model: str, n: int) -> None:
    with open_instance(home) as instance:
        instance.add_dynamic_partitions(str(MODELS.name), [model])
        dg.materialize(
            [questions_asset(quiz(n)), *evaluation_assets(TASK), leaking_asset],
            partition_key=model,
            instance=instance,
            raise_on_error=False,
            resources=resources_over(home),
        )


@pytest.fixture(scope="module")
def keys() -> Iterator[None]:
    """Set the variables of the environment that hold keys."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IN_PATH", KEYS_BY_PLACE["named"])
        patch.setenv("HF_TOKEN", KEYS_BY_PLACE["hub"])
        patch.setenv("MY_KEY", f" {KEY}  ")
        patch.setenv("ROOM", f"https://chat.example.org/hooks/{KEYS_BY_PLACE['webhook']}")
        patch.setenv("HTTPS_PROXY", f"http://me:{KEYS_BY_PLACE['proxy']}@127.0.0.1:9")
        patch.setenv("TEAM_DATABASE_PASSWORD", KEYS_BY_PLACE["database"])
        yield


def configure(home: Path, base_url: str, n: int) -> None:
    """Write a bench.toml with the keys, and a benchmark of n questions."""
    values = {**KEYS_BY_PLACE, "url": base_url.removesuffix("/v1"), "sha": 64 * "0"}
    (home / "bench.toml").write_text(TOML.format(**values))
    rows = [{"id": i, "question": f"{i}?", "options": ["x", "y"], "answer": "B"} for i in range(n)]
    (home / "echoes.jsonl").write_text("\n".join(map(json.dumps, rows)))


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, keys: None) -> Path:
    """A home with cached responses, failures and broken answers that echo keys."""
    home = tmp_path_factory.mktemp("home")
    echoes = [*RESPONSES.values(), *FAILURES.values(), *BROKEN.values()]
    with EchoingServer(echoes) as server:
        configure(home, server.base_url, len(echoes))
        evaluate(home, "m", len(echoes))
        evaluate(home, "gone", 2)
    return home


def command_lines(session: int) -> str:
    """Command lines of the processes of a session, which every user of the machine can read."""
    texts = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):  # it has ended
            if os.getsid(int(process.name)) == session:
                texts.append((process / "cmdline").read_text("utf-8", "replace"))
    return "\n".join(texts)


def file_texts(home: Path) -> Iterator[tuple[str, str]]:
    """Names and texts of files: their bytes, and the contents of tables, databases and archives."""
    for file in sorted(path for path in home.rglob("*") if path.is_file()):
        name = str(file.relative_to(home))
        if name == "bench.toml" or not file.exists():  # a log of a process that has ended
            continue
        yield name, file.read_bytes().decode("latin-1")
        if file.suffix == ".parquet":
            table = pq.read_table(file)
            yield name, f"{table.schema} {table.to_pylist()!r}"
        if file.suffix in (".db", ".sqlite"):
            with closing(sqlite3.connect(file)) as db:
                yield name, "\n".join(db.iterdump())
        if file.suffix in (".zip", ".eval"):
            with ZipFile(file) as archive, TemporaryDirectory() as folder:
                archive.extractall(folder)
                yield from ((f"{name}/{inner}", text) for inner, text in file_texts(Path(folder)))


def find_keys(home: Path, keys: Sequence[str] = ALL_KEYS) -> list[tuple[str, str]]:
    """Names of files that hold a key, each with the spelling found."""
    spellings = [spelling.lower() for key in keys for spelling in key_spellings(key)]
    return [
        (name, spelling)
        for name, text in file_texts(home)
        for spelling in spellings
        if spelling in text.lower()
    ]


COMMANDS = [
    ["leaderboard"], ["explain", "echoes/0", "--model", "m"], ["models", "list"], ["home", "usage"],
    ["export", "csv"], ["export", "jsonl"], ["export", "lm-eval"], ["export", "vlmeval"],
    ["report"], ["bundle", "pack", "echoes", "m", "packed.zip"],
]  # fmt: skip


@pytest.mark.long
def test_no_output_or_command_line_holds_a_key(tmp_path, keys, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    session, observed = 0, []

    def record_command_lines(echo: Echo) -> Echo:
        """Record the command lines of the evaluation when the server echoes."""

        def recording_echo(key: str) -> bytes:
            observed.append(command_lines(session))
            return echo(key)

        return recording_echo

    with EchoingServer(list(map(record_command_lines, RESPONSES.values()))) as server:
        configure(tmp_path, server.base_url, len(RESPONSES))
        typed_model = f"{server.base_url}?api_key={TYPED_KEY}#t,api_key_env=MY_KEY"
        command = [sys.executable, "-m", "bench_assets", "evaluate", "echoes"]
        process = subprocess.Popen(
            [*command, "--model", "m", "--model", typed_model],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        session = process.pid
        outputs = [process.communicate(timeout=300)[0]]
        assert process.returncode == 0, outputs
    outputs += [bench(*command).output for command in COMMANDS]
    (tmp_path / "outputs.txt").write_text("\n".join([*outputs, *observed]))
    assert "evaluate" in observed[0]
    assert "BENCH_KEY_" in observed[0]
    assert "redacted: MY_KEY" in outputs[0]
    assert find_keys(tmp_path, [*ALL_KEYS, TYPED_KEY]) == []


def test_no_file_of_a_home_holds_a_key(evaluated: Path) -> None:
    assert find_keys(evaluated) == []


def test_text_beside_a_redacted_key_is_kept(evaluated: Path) -> None:
    redacted = [(name, text) for name, text in file_texts(evaluated) if "***" in text]
    stored = "".join(text for name, text in redacted if name == "responses.sqlite")
    assert "B, and your key is ***" in stored
    assert "redacted: MY_KEY" in stored
    assert "subscription-key=***" in stored
    assert "/{IN_PATH}/v1;key=" in stored
    assert '"api_key":"***"' in stored
    events = "".join(text for name, text in redacted if name.endswith(".db"))
    for text in ("with ***", "again with ***", "no response with ***", "Bearer ***"):
        assert text in events
    assert any(name.endswith(".parquet") for name, _ in redacted)


ORDINARY_TEXTS = (
    *("The category is anything but a timestamp: localhost.", "La catégorie : n'importe quoi."),
    *("Категория — anything, localhost.", "类别是 timestamp,不是 anything。"),
    "الفئة هي anything و localhost.",
)
WORDS = ["anything", "localhost", "timestamp", "category"]
RANDOM_KEYS = {
    "32 hexadecimal digits": "a3f1c9d27be8406f9b1d2c3e4f5a6b7c",
    "a UUID": "550e8400-e29b-41d4-a716-446655440000",
    "a word in front": "Category-localhost-a3f1c9d27be8406f",
    "words behind": "a3f1c9d27be8406f-timestamp-anything",
}


@pytest.mark.parametrize("key", [*WORDS, *RANDOM_KEYS.values()], ids=[*WORDS, *RANDOM_KEYS])
def test_no_key_changes_an_ordinary_response(tmp_path, key, monkeypatch):
    texts = [f"{n}: {ORDINARY_TEXTS[n % len(ORDINARY_TEXTS)]} \u00a0{n:x}\r\n" for n in range(300)]
    texts[7] = "Category-localhost-timestamp, and not 550e8400 nor a3f1c9d2-timestamp-anything"
    monkeypatch.setenv("MY_KEY", key)
    section = f'api_key_env = "MY_KEY"\nextra_body = {{ key = "{key}", sort_key = "timestamp" }}'
    with ChatServer(lambda body: texts[int(body["messages"][0]["content"])]) as server:
        toml = (
            f'[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "{server.base_url}"\n{section}'
        )
        with models_of(tmp_path, toml).open("m") as model:
            responses = model.response(requests_for(*map(str, range(300))))
        assert (server.bodies[0]["key"], server.bodies[0]["sort_key"]) == (key, "timestamp")
    assert [response.text for response in responses] == texts
    assert {response.note for response in responses} == {""}


@pytest.mark.parametrize(
    ("keys", "n_warnings"), [(WORDS, 1), (RANDOM_KEYS.values(), 0)], ids=["words", "random keys"]
)
def test_only_keys_that_are_words_are_warned_of(tmp_path, keys, n_warnings, monkeypatch):
    section = 'kind = "server"\nmodel = "m"\nbase_url = "http://127.0.0.1:1/v1"'
    (tmp_path / "bench.toml").write_text(f'[models.m]\n{section}\napi_key_env = "MY_KEY"\n')
    for key in keys:
        monkeypatch.setenv("MY_KEY", key)
        assert len(weak_key_warnings(tmp_path)) == n_warnings, key
