"""A plain installation in somebody else's project: a wheel, and editable."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.docs.blocks import CHECKOUT, blocks
from tests.fakes.chat_server import ChatServer
from tests.fakes.plain_install import environment_of, plain_install

pytestmark = pytest.mark.long
OWN_PACKAGES = ("resources", "sensors", "tests")  # of the other project, named like our folders
DEFINITIONS = """
import dagster as dg
from bench_assets import definitions
from resources.warehouse import WAREHOUSE
from sensors.nightly import NIGHTLY

defs = dg.Definitions.merge(
    dg.Definitions(resources={WAREHOUSE: "duckdb"}, assets=[dg.AssetSpec(NIGHTLY)]),
    definitions.defs,
)
"""
SCRIPT = """
import bench_assets as bench
from bench_resources.config.bench_toml import Settings
from bench_sensors.evaluations import CheckpointEvaluation

run = bench.evaluate("codis", model="random", limit=4)
share: str | None = run.partial
n: int = run.partial
"""


@pytest.fixture(scope="module", params=["wheel", "editable"])
def commands(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(request.param)
    return plain_install(folder, editable=request.param == "editable", only_base=True)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A Dagster project that has packages of its own with these names."""
    for name in OWN_PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    (tmp_path / "resources" / "warehouse.py").write_text('WAREHOUSE = "warehouse"\n')
    (tmp_path / "sensors" / "nightly.py").write_text('NIGHTLY = "nightly"\n')
    (tmp_path / "definitions.py").write_text(DEFINITIONS)
    (tmp_path / "script.py").write_text(SCRIPT)
    return tmp_path


def typed(commands: Path, project: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Type a line in a shell of the project, in which the environment is active."""
    return subprocess.run(
        line, shell=True, cwd=project, env=environment_of(commands),
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def printed(commands: Path, project: Path, line: str) -> str:
    result = typed(commands, project, line)
    assert result.returncode == 0, f"{line}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def test_the_base_evaluates_and_reports(commands: Path, project: Path) -> None:
    assert "No module named 'torch'" in typed(commands, project, "python -c 'import torch'").stderr
    with ChatServer("Left.") as server:
        served = f"{server.base_url}#served"
        printed(commands, project, f"bench evaluate codis --model {served} --limit 4")
        assert server.n_requests == 4
    assert "4 of 80" in printed(commands, project, "bench evaluate codis --model random --limit 4")
    printed(commands, project, "bench home init-benchmark fridge")
    printed(commands, project, "bench evaluate fridge --model random")
    assert "fridge" in printed(commands, project, "bench leaderboard fridge")
    printed(commands, project, "bench report")
    assert (project / "bench_home" / "report" / "index.html").is_file()


def test_the_first_pages_are_typed_in_another_project(commands: Path, project: Path) -> None:
    for page in ("README.md", "docs/first-hour.md"):
        for block in blocks((CHECKOUT / page).read_text(encoding="utf-8")):
            if block.how not in ("run", "run long"):
                continue
            if block.language == "python":
                (project / "typed.py").write_text(block.text)
            lines = ["python typed.py"] if block.language == "python" else block.lines
            outputs = [printed(commands, project, line) for line in lines]
        if page == "README.md":
            (row,) = (line for line in outputs[-1].splitlines() if line.startswith("my-function"))
            assert row.split()[1] == "0.900"  # 104 and 117 are no more than 127
            assert (project / "plot.svg").is_file()


def test_what_needs_an_extra_names_it(commands: Path, project: Path) -> None:
    (project / "checkpoint").mkdir()
    (project / "checkpoint" / "config.json").write_text('{"model_type": "llava"}')
    save_file({"weight": np.zeros(1)}, project / "checkpoint" / "model.safetensors")
    for line, extra in (
        ("bench evaluate codis --model checkpoint --limit 4", "local"),
        ("bench evaluate blink --model random --limit 4", "build"),
        ("bench annotate serve", "annotate"),
    ):
        result = typed(commands, project, line)
        assert result.returncode == 1, result.stdout
        assert f"pip install 'bench-assets[{extra}]'" in result.stderr
        assert "make " not in result.stderr


def test_type_checkers_follow_the_packages(commands: Path, project: Path) -> None:
    result = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-incremental", "script.py"),
            *("--python-executable", str(commands / "python")),
        ],
        cwd=project, env=environment_of(commands), capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line for line in result.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1, result.stdout + result.stderr
    assert errors[0].startswith("script.py:8: error: Incompatible types in assignment")
