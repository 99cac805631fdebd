"""What pages of the code refer to exists: files, modules, assets; sizes and versions hold."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import CHECKOUT

_PAGES_OF_CODE = ("audit", "build-a-benchmark", "images", "judges", "statistics")
PAGES = [
    *sorted(CHECKOUT.glob("bench_assets/suites/**/README.md")),
    CHECKOUT / "bench_assets" / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    *(CHECKOUT / "docs" / f"{name}.md" for name in _PAGES_OF_CODE),
]
ASSETS = {
    line.split(" <- ")[0].strip()
    for line in (CHECKOUT / "tests" / "golden" / "graph.txt").read_text("utf-8").splitlines()
}
OTHER_PEOPLES = {"eval.py", "fridge/rejections"}  # CODIS' authors'; of the benchmark that is built
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_FILE = re.compile(r"[\w./-]*\w\.(?:py|txt|md)|\w[\w-]*(?:/[\w.-]+)+")
_NAME = re.compile(r"[a-z]\w*(?:\.\w+)+")
_OF_DATA = re.compile(r".*\.(?:csv|json|jsonl|parquet|png|jpg|sqlite|toml|zip)|hf\..*")


def roots_of(page: Path) -> list[Path]:
    """Folders that a page's paths may begin at: its own, those of the packages, the checkout."""
    suite = [folder for folder in page.parents if folder.parent.name == "suites"]
    packages = CHECKOUT / "bench_assets"
    return [page.parent, *suite, packages, CHECKOUT]


def exists(page: Path, path: str) -> bool:
    """Whether a path is a file, a folder or an asset; a suite's assets are named without it too."""
    suites = [f"{root.name}/{path}" for root in roots_of(page)[:-2]]
    if path in OTHER_PEOPLES or not ASSETS.isdisjoint({path, *suites}):
        return True
    return any((root / path).exists() for root in roots_of(page)) or (
        "/" not in path and any((CHECKOUT / "tests").rglob(path))
    )


def is_defined(root: Path, parts: list[str]) -> bool:
    """Whether a dotted name is a module or package, or a word of a module."""
    for n in range(len(parts), 0, -1):
        place = root.joinpath(*parts[:n])
        if n == len(parts) and place.is_dir():
            return True
        if (file := place.with_suffix(".py")).is_file():
            return all(re.search(rf"\b{part}\b", file.read_text("utf-8")) for part in parts[n:])
    return False


def dangling(page: Path) -> Iterator[str]:
    """What a page names and nobody finds."""
    for path in _CODE.findall(page.read_text("utf-8")):
        if _OF_DATA.fullmatch(path):
            continue
        if _FILE.fullmatch(path):
            if not exists(page, path):
                yield path
        elif _NAME.fullmatch(path) and not any(
            is_defined(root, path.split(".")) for root in roots_of(page)
        ):
            yield path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_what_a_page_names_exists(page: Path) -> None:
    assert list(dangling(page)) == []


GENERATED = {
    "defaults.md",
    "known-benchmarks.md",
    "parser.md",
    "parser-measured.md",
    "proofs.md",
    "settings.md",
}


def test_readme_and_documentation_keep_their_size():
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    written = [page for page in CHECKOUT.glob("docs/*.md") if page.name not in GENERATED]
    pages = [page.read_text(encoding="utf-8") for page in written]
    assert len(readme.split()) <= 700
    assert sum(len(page.split()) for page in pages) <= 22_500


def test_a_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    package = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{citation["version"]}"' in package
