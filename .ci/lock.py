"""Write constraints.txt with the releases that pip chooses today for all extras (`make lock`).

torch keeps its release, because another may come with gigabytes of CUDA libraries. Change that line
by hand. Packages of models are pinned with their hashes in embedded-models.txt.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

CONSTRAINTS = Path("constraints.txt")
REQUIREMENTS = [
    ".[dev,annotate,cluster,k8s,vision]",
    "moto[server]",
    "importlib-resources",
    "jsonschema",
]
UNPINNED = re.compile(
    r"bench-assets|torch|triton|setuptools|hatchling|trove-classifiers|(cuda|nvidia)-.*"
)


def release_pins(torch: str) -> list[str]:
    """Lines `name==release` of the packages that an installation would choose, sorted by name."""
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    report = subprocess.run(
        [*pip, "--report", "-", torch, *REQUIREMENTS], check=True, stdout=subprocess.PIPE
    ).stdout
    models = re.findall(r"^([\w.-]+)==", Path("embedded-models.txt").read_text(), re.MULTILINE)
    releases = {}
    for package in json.loads(report)["install"]:
        name = re.sub(r"[-_.]+", "-", package["metadata"]["name"]).lower()
        if name not in models and not UNPINNED.fullmatch(name):
            releases[name] = package["metadata"]["version"].partition("+")[0]
    return [f"{name}=={release}" for name, release in sorted(releases.items())]


if __name__ == "__main__":
    torch = next(
        line for line in CONSTRAINTS.read_text().splitlines() if line.startswith("torch==")
    )
    pins = release_pins(torch)
    CONSTRAINTS.write_text("\n".join(sorted([*pins, torch])) + "\n")
