"""No byte of a home folder tells a key: every file of it is searched after an evaluation."""

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.asset_factory.suite_assets import MODELS
from bench_assets.core.schema.errors import ModelError
from bench_assets.workspace.materialization.dagster_instance import open_instance, run_failure
from tests.echoing_server import BROKEN, FAILURES, RESPONSES, EchoingServer
from tests.quiz import TASK, questions_asset, quiz, resources_over
from tests.resources.models.api.test_secrets import forms

KEY = "sk-Qu1te/a+l0ng=key~0f-m1ne"
TOKEN = "hf_AToken0fTheHubThatIsMine"
IN_QUERY = "a-key-in-the-query-0123456789"
IN_BODY = "a-key-in-the-body-0123456789"
ALL = (KEY, TOKEN, IN_QUERY, IN_BODY)

TOML = """
[models.m]
kind = "server"
base_url = "{url}?subscription-key={query}"
model = "m"
api_key_env = "MY_KEY"
max_tries = 2
concurrency = 1
extra_body = {{ metadata = {{ api_key = "{body}" }} }}
"""


@dg.asset
def careless(context: dg.AssetExecutionContext) -> None:
    """Tells what it knows in every way that Dagster has; its error has a cause."""
    context.log.warning("with %s", KEY)
    logging.getLogger("bench_assets.server").warning("again with %s", IN_BODY)
    context.add_output_metadata({"key": KEY, "both": dg.MetadataValue.json({"a": [KEY, TOKEN]})})
    context.log_event(dg.AssetObservation("seen", metadata={KEY: dg.MetadataValue.md(IN_QUERY)}))
    try:
        raise ValueError(f"Bearer {KEY}")
    except ValueError as why:
        raise ModelError(f"no response with {TOKEN}") from why


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A home in which every echo was heard and remembered, and what a person was told of it."""
    home = tmp_path_factory.mktemp("home")
    echoes = [*RESPONSES.values(), *FAILURES.values(), *BROKEN.values()]
    with (
        pytest.MonkeyPatch.context() as patch,
        EchoingServer(echoes) as server,
    ):
        patch.setenv("MY_KEY", f" {KEY}  ")
        patch.setenv("HF_TOKEN", TOKEN)
        written = TOML.format(url=server.base_url, query=IN_QUERY, body=IN_BODY)
        (home / "bench.toml").write_text(written)
        with open_instance(home) as instance:
            instance.add_dynamic_partitions(str(MODELS.name), ["m"])
            result = dg.materialize(
                [questions_asset(quiz(len(echoes))), *evaluation_assets(TASK), careless],
                partition_key="m",
                instance=instance,
                raise_on_error=False,
                resources=resources_over(home),
            )
        yield home, str(run_failure(result))


def contents(home: Path) -> Iterator[tuple[str, str]]:
    """What lies in a folder: the bytes of each file, and what is packed or cut in pieces in it."""
    for file in sorted(path for path in home.rglob("*") if path.is_file()):
        name = str(file.relative_to(home))
        if name == "bench.toml":
            continue
        yield name, file.read_bytes().decode("latin-1")
        if file.suffix == ".parquet":
            table = pq.read_table(file)
            yield name, f"{table.schema} {table.to_pylist()!r}"
        if file.suffix in (".db", ".sqlite"):
            with closing(sqlite3.connect(file)) as db:
                yield name, "\n".join(db.iterdump())


def tells(home: Path, keys: Sequence[str] = ALL) -> list[tuple[str, str]]:
    """Where in a home folder which key stands, and how."""
    spelled = [form.lower() for key in keys for form in forms(key)]
    return [
        (name, form) for name, text in contents(home) for form in spelled if form in text.lower()
    ]


def test_no_byte_of_a_home_tells_a_key(evaluated: tuple[Path, str]) -> None:
    home, _ = evaluated
    assert tells(home) == []


def test_what_was_said_beside_the_key_is_there(evaluated: tuple[Path, str]) -> None:
    home, _ = evaluated
    found = [(name, text) for name, text in contents(home) if "***" in text]
    stored = "".join(text for name, text in found if name == "responses.sqlite")
    assert "B, and your key is ***" in stored
    assert "subscription-key=***" in stored
    assert '"api_key":"***"' in stored
    events = "".join(text for name, text in found if name.endswith(".db"))
    for told in ("with ***", "again with ***", "no response with ***", "Bearer ***"):
        assert told in events
    assert any(name.endswith(".parquet") for name, _ in found)
