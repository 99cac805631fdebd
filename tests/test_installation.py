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
def bin_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
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


def run_line(bin_folder: Path, project: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell of the project, in which the environment is active."""
    return subprocess.run(
        line, shell=True, cwd=project, env=environment_of(bin_folder),
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def run_successfully(bin_folder: Path, project: Path, line: str) -> str:
    """Run a line that has to succeed; returns its output."""
    result = run_line(bin_folder, project, line)
    assert result.returncode == 0, f"{line}\n{result.stdout}\n{result.stderr}"
    return result.stdout


def test_the_base_evaluates_and_reports(bin_folder: Path, project: Path) -> None:
    torch_import = run_line(bin_folder, project, "python -c 'import torch'")
    assert "No module named 'torch'" in torch_import.stderr
    with ChatServer("Left.") as server:
        model = f"{server.base_url}#served"
        run_successfully(bin_folder, project, f"bench evaluate codis --model {model} --limit 4")
        assert server.n_requests == 4
    assert "4 of 80" in run_successfully(
        bin_folder, project, "bench evaluate codis --model random --limit 4"
    )
    run_successfully(bin_folder, project, "bench home init-benchmark fridge")
    run_successfully(bin_folder, project, "bench evaluate fridge --model random")
    assert "fridge" in run_successfully(bin_folder, project, "bench leaderboard fridge")
    run_successfully(bin_folder, project, "bench report")
    assert (project / "bench_home" / "report" / "index.html").is_file()


def run_page(bin_folder: Path, project: Path, page: str) -> list[str]:
    """Run the commands and scripts of a page; returns the outputs of the last block."""
    outputs: list[str] = []
    for block in blocks((CHECKOUT / page).read_text(encoding="utf-8")):
        if block.how not in ("run", "run long"):
            continue
        lines = block.lines
        if block.language == "python":
            (project / "block.py").write_text(block.text)
            lines = ["python block.py"]
        outputs = [run_successfully(bin_folder, project, line) for line in lines]
    return outputs


def test_the_commands_of_the_readme_run_in_another_project(bin_folder: Path, project: Path) -> None:
    *_, leaderboard = run_page(bin_folder, project, "README.md")
    (row,) = (line for line in leaderboard.splitlines() if line.startswith("my-function"))
    _, accuracy, *_ = row.split()
    assert accuracy == "0.900"  # 104 and 117 are no more than 127
    assert (project / "plot.svg").is_file()


def test_commands_of_the_first_hour_run_in_another_project(bin_folder: Path, project: Path) -> None:
    assert run_page(bin_folder, project, "docs/first-hour.md")


@pytest.mark.parametrize(
    ("line", "extra"),
    [
        ("bench evaluate codis --model checkpoint --limit 4", "local"),
        ("bench evaluate blink --model random --limit 4", "build"),
        ("bench annotate serve", "annotate"),
    ],
)
def test_a_command_that_needs_an_extra_names_it(bin_folder, project, line, extra):
    (project / "checkpoint").mkdir()
    (project / "checkpoint" / "config.json").write_text('{"model_type": "llava"}')
    save_file({"weight": np.zeros(1)}, project / "checkpoint" / "model.safetensors")
    result = run_line(bin_folder, project, line)
    assert result.returncode == 1, result.stdout
    assert f"pip install 'bench-assets[{extra}]'" in result.stderr
    assert "make " not in result.stderr


def test_type_checkers_follow_the_packages(bin_folder: Path, project: Path) -> None:
    result = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--no-incremental", "script.py"),
            *("--python-executable", str(bin_folder / "python")),
        ],
        cwd=project, env=environment_of(bin_folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    errors = [line for line in result.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 1, result.stdout + result.stderr
    (error,) = errors
    assert error.startswith("script.py:8: error: Incompatible types in assignment")
