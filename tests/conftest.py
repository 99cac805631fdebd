"""Fixtures, options and settings for all tests."""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from absl.logging import get_absl_handler
from hypothesis import settings

from tests.fakes.chromium import chromium, page
from tests.fakes.object_store import KEYS, make_bucket, moto
from tests.fakes.postgres_server import PostgresServer, postgres
from tests.fakes.sqlite_once import make_databases_once

__all__ = ["chromium", "page"]  # fixtures

make_databases_once()

# Tests run in one process for each core: more threads would only wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# `nohup make check &` and some CI ignore these signals, and children inherit that: tests that send
# them would wait in vain.
for signal_number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(signal_number) is signal.SIG_IGN:
        is_interrupt = signal_number == signal.SIGINT
        default = signal.default_int_handler if is_interrupt else signal.SIG_DFL
        signal.signal(signal_number, default)

# Imported modules and collected tests stay: searching them for garbage takes a tenth of all time.
gc.set_threshold(50_000, 20, 100)

# absl, which rouge-score imports, logs to the stderr of its import, which pytest captures, and
# closes that stream when logging is configured again, as Dagster does.
get_absl_handler().python_handler.setStream(sys.__stderr__)

# No deadline, because machines are noisy; the same examples in every run.
settings.register_profile("bench", deadline=None, derandomize=True)
settings.load_profile("bench")

CHECKOUT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite golden files")


@pytest.hookimpl(tryfirst=True)  # before pytest selects by -m
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "golden" in getattr(item, "fixturenames", ()):
            item.add_marker("golden")


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compare a text with tests/golden/<name>; with --golden, write it there."""

    def compare(name: str, text: str) -> None:
        file = GOLDEN / name
        if request.config.getoption("--golden"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.exists(), f"{file} is missing; make golden writes it"
        assert text == file.read_text(encoding="utf-8"), f"if this is meant: make golden ({file})"

    return compare


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The authors' data beside the checkout; tests that need it skip where it is absent."""
    folder = CHECKOUT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no authors' data in {folder}")
    return folder


@pytest.fixture(scope="session")
def database_server() -> Iterator[PostgresServer]:
    with postgres() as running:
        yield running


@pytest.fixture
def database_address(database_server: PostgresServer) -> str:
    """The address of an empty database."""
    import psycopg

    name = f"test{uuid4().hex}"
    with psycopg.connect(database_server.address(), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}")
    return database_server.address(name)


@pytest.fixture(scope="session")
def store_endpoint() -> Iterator[str]:
    with moto() as running:
        yield running


@pytest.fixture
def bucket(store_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty bucket, whose keys are in the environment."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return make_bucket(store_endpoint, f"bucket-{uuid4().hex}")


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source of four questions, and a home where `random` responded to them."""
    from bench_assets.workspace.materialization.workbench import Workbench
    from bench_resources.config.bench_toml import load_settings
    from tests.fakes.codis_source import entry, write_release

    folder = tmp_path_factory.mktemp("evaluated")
    pairs = [entry(), entry(id="001", image_id="b.png")]
    write_release(folder / "codis", pairs, images=("a.png", "b.png"))
    (folder / "home").mkdir()
    (folder / "home/bench.toml").write_text(f'[sources]\ncodis = "{folder / "codis"}"\n')
    with Workbench(load_settings(folder / "home"), ["codis"]) as workbench:
        workbench.refresh_questions("codis")
        workbench.evaluate(["codis"], "random")
    return folder


@pytest.fixture
def source(evaluated: Path, tmp_path: Path) -> Path:
    """A copy of the source of four questions."""
    return shutil.copytree(evaluated / "codis", tmp_path / "codis")


@pytest.fixture
def used_home(evaluated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the home where `random` was evaluated, which commands use."""
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(evaluated / "home", tmp_path / "home")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder from which Python imports, for packages that a test installs."""
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    return tmp_path / "site"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, which commands use."""
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"
