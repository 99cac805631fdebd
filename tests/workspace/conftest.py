"""A home that several files of the command line's tests look at, or copy."""

import shutil
from pathlib import Path

import pytest

from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from tests.fakes.codis_source import entry, write_release


@pytest.fixture(scope="session")
def evaluated(tmp_path_factory) -> Path:
    """A folder with a source of four questions, and a home where `random` was asked them."""
    folder = tmp_path_factory.mktemp("evaluated")
    pairs = [entry(), entry(id="001", image_id="b.png")]
    write_release(folder / "codis", pairs, images=("a.png", "b.png"))
    (folder / "home").mkdir()
    (folder / "home/bench.toml").write_text(f'[sources]\ncodis = "{folder / "codis"}"\n')
    with Workbench(load_settings(folder / "home"), ["codis"]) as opened:
        opened.refresh_questions("codis")
        opened.evaluate(["codis"], "random")
    return folder


@pytest.fixture
def source(evaluated, tmp_path):
    return shutil.copytree(evaluated / "codis", tmp_path / "codis")


@pytest.fixture
def used_home(evaluated, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(evaluated / "home", tmp_path / "home")
