"""Features can be left out: the rest evaluates, reports and loads the graph, with equal digits."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.features import FEATURES, Feature, command_of, function_of, hook_of, hooks_of

ROOT = Path(__file__).parents[1]
COMMANDS = (
    ("evaluate", "codis", "--model", "random"),
    ("leaderboard", "--json"),
    ("report",),
)
_DEFINITIONS = (
    "from bench_assets.definitions import defs; print(len(list(defs.resolve_all_asset_specs())))"
)


def copied_product(folder: Path, left_out: str) -> Path:
    """A copy of the packages, without one of them."""
    for source in ("bench_assets", "resources/bench_resources", "sensors/bench_sensors"):
        shutil.copytree(
            ROOT / source, folder / source, ignore=shutil.ignore_patterns("__pycache__")
        )
    if left_out:
        path = Path(*left_out.split("."))
        roots = (folder, folder / "resources", folder / "sensors")
        (removed,) = (root / path for root in roots if (root / path).is_dir())
        shutil.rmtree(removed)
    return folder


def run(product: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a copy of the product, with a home beside it."""
    folders = (product, product / "resources", product / "sensors")
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=product,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, folders)),
            "BENCH_HOME": str(product / "home"),
        },
        capture_output=True,
        text=True,
        check=False,
    )


def leaderboard(product: Path) -> list[object]:
    """Evaluate, report and load the definitions; the leaderboard's rows without times."""
    results = [run(product, "-m", "bench_assets", *command) for command in COMMANDS]
    results.append(run(product, "-c", _DEFINITIONS))
    for result in results:
        assert result.returncode == 0, result.stdout + result.stderr
    assert (product / "home" / "report" / "index.html").is_file()
    rows = [json.loads(line) for line in results[1].stdout.splitlines()]
    assert rows
    return [{name: row[name] for name in ("task", "model", "metric", "value")} for row in rows]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    return leaderboard(copied_product(tmp_path_factory.mktemp("whole"), ""))


@pytest.mark.long
@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.package)
def test_the_rest_works_without_a_feature(
    feature: Feature, whole: list[object], tmp_path: Path
) -> None:
    product = copied_product(tmp_path, feature.package)
    assert leaderboard(product) == whole
    for command in feature.commands:
        result = run(product, "-m", "bench_assets", command, "run", "--model", "random")
        assert result.returncode == 1
        assert f"error: bench {command}: the package {feature.package} is not" in result.stderr
    for name in feature.functions:
        result = run(product, "-c", f"import bench_assets; bench_assets.{name}")
        assert f"{name}: the package {feature.package} is not installed" in result.stderr


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.package)
def test_what_a_feature_lists_exists(feature: Feature) -> None:
    for command in feature.commands:
        assert command_of(command).registered_commands or command_of(command).registered_groups
    assert all(callable(function_of(name)) for name in feature.functions)
    assert all(callable(hook) for name in feature.hooks for hook in hooks_of(name))


def test_a_package_that_is_missing_is_named_with_the_command() -> None:
    feature = Feature(package="bench_assets.no_such_package", hooks={"pages": "pages:write"})
    assert not feature.is_installed
    with pytest.raises(SettingsError, match=r"no_such_package is not installed.*pip install"):
        feature.load("pages:write", "bench pages")


def test_hooks_that_several_features_may_have_are_all_called() -> None:
    assert [hook.__name__ for hook in hooks_of("suites")] == ["suites_of_home"]
    assert hook_of("object store", "[storage] objects").__name__ == "open_object_blobs"
