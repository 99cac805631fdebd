"""Packages installed beside this one, as their folders lie in site-packages."""

from collections.abc import Mapping
from pathlib import Path


def write_distribution(
    site: Path, name: str, entry_points: Mapping[str, Mapping[str, str]], **modules: str
) -> None:
    """Install a distribution of single modules; ``site`` has to be put on ``sys.path``.

    Args:
        site: The folder.
        name: Name of the distribution.
        entry_points: Group -> name -> "module:object".
        modules: The source of each module.
    """
    about = site / f"{name.replace('-', '_')}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in objects.items())
        for group, objects in entry_points.items()
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    for module, text in modules.items():
        (site / f"{module}.py").write_text(text)
