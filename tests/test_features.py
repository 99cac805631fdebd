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
COMMANDS = (("evaluate", "codis", "--model", "random"), ("leaderboard", "--json"), ("report",))
_DEFINITIONS = (
    "from bench_assets.definitions import defs; print(len(list(defs.resolve_all_asset_specs())))"
)


def copy_product(folder: Path, removed_package: str) -> Path:
    """Copy the product without a package ("": all of it)."""
    for source in ("bench_assets", "resources/bench_resources", "sensors/bench_sensors"):
        shutil.copytree(
            ROOT / source, folder / source, ignore=shutil.ignore_patterns("__pycache__")
        )
    if removed_package:
        path = Path(*removed_package.split("."))
        roots = (folder, folder / "resources", folder / "sensors")
        (removed,) = (root / path for root in roots if (root / path).is_dir())
        shutil.rmtree(removed)
    return folder


def run_python(product: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
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


def measure_leaderboard(product: Path) -> list[object]:
    """Evaluate, report and load the definitions; returns the numbers of the leaderboard."""
    results = [run_python(product, "-m", "bench_assets", *command) for command in COMMANDS]
    results.append(run_python(product, "-c", _DEFINITIONS))
    for result in results:
        assert result.returncode == 0, result.stdout + result.stderr
    assert (product / "home" / "report" / "index.html").is_file()
    _, leaderboard, *_ = results
    rows = [json.loads(line) for line in leaderboard.stdout.splitlines()]
    assert rows
    return [{name: row[name] for name in ("task", "model", "metric", "value")} for row in rows]


@pytest.fixture(scope="module")
def whole_leaderboard(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    return measure_leaderboard(copy_product(tmp_path_factory.mktemp("whole"), ""))


@pytest.mark.long
@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.package)
def test_the_rest_works_without_a_feature_and_names_it_where_it_is_needed(
    feature: Feature, whole_leaderboard: list[object], tmp_path: Path
) -> None:
    product = copy_product(tmp_path, feature.package)
    assert measure_leaderboard(product) == whole_leaderboard
    for command in feature.commands:
        result = run_python(product, "-m", "bench_assets", command, "run", "--model", "random")
        assert result.returncode == 1
        assert f"error: bench {command}: the package {feature.package} is not" in result.stderr
    for name in feature.functions:
        result = run_python(product, "-c", f"import bench_assets; bench_assets.{name}")
        assert f"{name}: the package {feature.package} is not installed" in result.stderr


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.package)
def test_commands_functions_and_hooks_of_a_feature_exist(feature: Feature) -> None:
    for name in feature.commands:
        command_group = command_of(name)
        assert command_group.registered_commands or command_group.registered_groups
    assert all(callable(function_of(name)) for name in feature.functions)
    assert all(callable(hook) for name in feature.hooks for hook in hooks_of(name))


def test_a_package_that_is_missing_is_named_with_the_command() -> None:
    feature = Feature(package="bench_assets.no_such_package", hooks={"pages": "pages:write"})
    assert not feature.is_installed
    with pytest.raises(SettingsError, match=r"no_such_package is not installed.*pip install"):
        feature.load("pages:write", "bench pages")


def test_hooks_of_installed_features_are_found_by_name() -> None:
    assert [hook.__name__ for hook in hooks_of("suites")] == ["suites_of_home"]
    assert hook_of("object store", "[storage] objects").__name__ == "open_object_blobs"
