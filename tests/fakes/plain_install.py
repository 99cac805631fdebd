"""An environment with a copy of the packages in it, as ``pip install .`` makes one."""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

CHECKOUT = Path(__file__).parents[2]


def plain_install(folder: Path, *, editable: bool = False, only_base: bool = False) -> Path:
    """Install a copy of the checkout; returns the folder of the commands.

    What it needs is that of this environment, so that nothing is fetched.

    Args:
        folder: Gets the environment and the copy of the checkout.
        editable: Whether the environment has paths into the copy rather than its packages.
        only_base: Whether it has what a plain installation has, without any extra.
    """
    tree, environment = copy_checkout(folder / "tree"), folder / "environment"
    venv.create(environment, symlinks=True)
    packages = next(environment.glob("lib/*/site-packages"))
    if only_base:
        link_base(packages)
    else:
        below = [folder for folder in sys.path if folder.endswith("site-packages")]
        (packages / "below.pth").write_text("\n".join(below))
    kind = "build_editable" if editable else "build_wheel"
    build = f"from hatchling.build import {kind}; print({kind}({str(folder)!r}))"
    wheel = subprocess.check_output([sys.executable, "-c", build], cwd=tree, text=True).strip()
    pip = [sys.executable, "-m", "pip", "--python", str(environment), "install", "--quiet"]
    subprocess.run(
        [*pip, "--no-deps", "--no-index", "--disable-pip-version-check", str(folder / wheel)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return environment / "bin"


def link_base(packages: Path) -> None:
    """Link the files of what a plain installation has, and of nothing else."""
    for name in base_distributions():
        for file in distribution(name).files or ():
            if ".." not in file.parts:  # no command: python -m runs them
                link = packages / file
                link.parent.mkdir(parents=True, exist_ok=True)
                link.unlink(missing_ok=True)
                link.symlink_to(file.locate())


def base_distributions() -> set[str]:
    """The dependencies in pyproject.toml without any extra, and theirs in turn."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    requirements = [Requirement(text) for text in project["dependencies"]]
    visited: set[tuple[str, str]] = set()
    while requirements:
        requirement = requirements.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras} - {e for n, e in visited if n == name}:
            visited.add((name, extra))
            for needed in map(Requirement, distribution(name).requires or ()):
                if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                    requirements.append(needed)
    return {name for name, _ in visited}


def copy_checkout(tree: Path) -> Path:
    """Copy what git has of the checkout; returns the folder."""
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=CHECKOUT, text=True)
    for name in filter(None, listed.split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, tree / name)
    return tree


def environment_of(commands: Path, **variables: str) -> dict[str, str]:
    """Variables of a shell that uses the installed commands, without those of this checkout."""
    others = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {**others, "PATH": f"{commands}:{os.environ['PATH']}", **variables}


_OURS = ("PYTHONPATH", "BENCH_HOME", "DAGSTER_HOME", "VIRTUAL_ENV")
