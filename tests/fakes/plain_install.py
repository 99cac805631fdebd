"""An environment in which a copy of the packages is installed, as by ``pip install .``."""

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
    """Install a copy of the checkout without a network; return the folder of the commands.

    Its dependencies are those of this environment.

    Args:
        folder: Gets the environment and the copy of the checkout.
        editable: Install the copy with ``--editable``.
        only_base: Only the dependencies of an installation without extras.
    """
    tree, environment = copy_checkout(folder / "tree"), folder / "environment"
    venv.create(environment, symlinks=True)
    packages = next(environment.glob("lib/*/site-packages"))
    if only_base:
        link_base(packages)
    else:
        site_packages = [folder for folder in sys.path if folder.endswith("site-packages")]
        (packages / "below.pth").write_text("\n".join(site_packages))
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
    """Link the files of the distributions of an installation without extras."""
    for name in base_distributions():
        for file in distribution(name).files or ():
            if ".." not in file.parts:  # without commands, which are outside the folder
                link = packages / file
                link.parent.mkdir(parents=True, exist_ok=True)
                link.unlink(missing_ok=True)
                link.symlink_to(file.locate())


def base_distributions() -> set[str]:
    """Names of the dependencies in pyproject.toml without extras, and of theirs in turn."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    requirements = [Requirement(text) for text in project["dependencies"]]
    visited: set[tuple[str, str]] = set()
    while requirements:
        requirement = requirements.pop()
        name = canonicalize_name(requirement.name)
        new = {(name, extra) for extra in ("", *requirement.extras)} - visited
        visited |= new
        for _, extra in new:
            for needed in map(Requirement, distribution(name).requires or ()):
                if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                    requirements.append(needed)
    return {name for name, _ in visited}


def copy_checkout(tree: Path) -> Path:
    """Copy the files of the checkout that git tracks; return the folder."""
    names = subprocess.check_output(["git", "ls-files", "-z"], cwd=CHECKOUT, text=True)
    for name in filter(None, names.split("\0")):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, tree / name)
    return tree


def environment_of(commands: Path, **variables: str) -> dict[str, str]:
    """Variables of a shell that uses the installed commands, without those of this checkout."""
    inherited = {name: value for name, value in os.environ.items() if name not in _OURS}
    return {**inherited, "PATH": f"{commands}:{os.environ['PATH']}", **variables}


_OURS = ("PYTHONPATH", "BENCH_HOME", "DAGSTER_HOME", "VIRTUAL_ENV")
