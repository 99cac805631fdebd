"""An environment with a copy of the packages in it, as ``pip install .`` makes one."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]


def plain_install(folder: Path) -> Path:
    """Install the checkout, not editable; returns the folder of the commands.

    What it needs is that of this environment, so that nothing is fetched.
    """
    tree, environment = copy_checkout(folder / "tree"), folder / "environment"
    venv.create(environment, symlinks=True)
    packages = next(environment.glob("lib/*/site-packages"))
    below = [folder for folder in sys.path if folder.endswith("site-packages")]
    (packages / "below.pth").write_text("\n".join(below))
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "install", "--quiet"]
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--disable-pip-version-check", str(tree)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return environment / "bin"


def copy_checkout(tree: Path) -> Path:
    """Copy what git has of the checkout; returns the folder."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=CHECKOUT, text=True)
    for name in filter(None, listed.split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, tree / name)
    return tree


def environment_of(commands: Path, **variables: str) -> dict[str, str]:
    """The environment of a shell in which that one is active, without this checkout."""
    others = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {**others, "PATH": f"{commands}:{os.environ['PATH']}", **variables}


_OURS = ("PYTHONPATH", "BENCH_HOME", "DAGSTER_HOME", "VIRTUAL_ENV")
