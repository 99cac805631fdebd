import re
import tomllib
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
OUTSIDE = {"eval.py", "fridge/rejections"}  # of CODIS' authors; of the example of a benchmark
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_FILE = re.compile(r"[\w./-]*\w\.(?:py|txt|md)|\w[\w-]*(?:/[\w.-]+)+")
_NAME = re.compile(r"[a-z]\w*(?:\.\w+)+")
_OF_DATA = re.compile(r".*\.(?:csv|json|jsonl|parquet|png|jpg|sqlite|toml|zip)|hf\..*")


def roots_of(page: Path) -> list[Path]:
    """Folders to which paths of a page may be relative."""
    suite = [folder for folder in page.parents if folder.parent.name == "suites"]
    packages = CHECKOUT / "bench_assets"
    return [page.parent, *suite, packages, CHECKOUT]


def exists(page: Path, path: str) -> bool:
    """Whether a path is a file, a folder or an asset, which may be named without its suite."""
    suites = [f"{root.name}/{path}" for root in roots_of(page)[:-2]]
    if path in OUTSIDE or not ASSETS.isdisjoint({path, *suites}):
        return True
    if any((root / path).exists() for root in roots_of(page)):
        return True
    return "/" not in path and any((CHECKOUT / "tests").rglob(path))


def is_defined(root: Path, parts: list[str]) -> bool:
    """Whether a dotted name is a package, a module, or a module followed by words in it."""
    if root.joinpath(*parts).is_dir():
        return True
    for n in range(len(parts), 0, -1):
        file = root.joinpath(*parts[:n]).with_suffix(".py")
        if file.is_file():
            text = file.read_text("utf-8")
            return all(re.search(rf"\b{part}\b", text) for part in parts[n:])
    return False


def dangling_references(page: Path) -> Iterator[str]:
    """Yield files and dotted names in the code of a page that do not exist."""
    for reference in _CODE.findall(page.read_text("utf-8")):
        if _OF_DATA.fullmatch(reference):
            continue
        if _FILE.fullmatch(reference):
            if not exists(page, reference):
                yield reference
        elif _NAME.fullmatch(reference):
            parts = reference.split(".")
            if not any(is_defined(root, parts) for root in roots_of(page)):
                yield reference


_PACKAGES = {"bench_assets": "", "bench_resources": "resources", "bench_sensors": "sensors"}
_IN_CODE = re.compile(rf"`((?:{'|'.join(_PACKAGES)})(?:\.\w+)+|[\w/-]+\.js)`")
_OTHER_NAMES = {
    *{"bench_assets.engines", "bench_assets.extensions"},  # entry points
    *{"bench_assets.server", "data/files.js"},  # a logger; a file of the report
}


def is_in_code(name: str) -> bool:
    """Whether a docstring's name of a module, or of a script of the report, exists."""
    if name.endswith(".js"):
        scripts = CHECKOUT / "bench_assets" / "report" / "static" / "app"
        return any(path.match(f"*/{name}") for path in scripts.rglob("*.js"))
    parts = name.split(".")
    return is_defined(CHECKOUT / _PACKAGES[parts[0]], parts)


@pytest.mark.parametrize("package", _PACKAGES)
def test_modules_and_scripts_that_docstrings_name_exist(package: str) -> None:
    files = (CHECKOUT / _PACKAGES[package] / package).rglob("*.py")
    names = {(file, name) for file in files for name in _IN_CODE.findall(file.read_text("utf-8"))}
    assert [pair for pair in names if pair[1] not in _OTHER_NAMES and not is_in_code(pair[1])] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_files_and_names_of_a_page_exist(page: Path) -> None:
    assert list(dangling_references(page)) == []


GENERATED = {
    "defaults.md",
    "known-benchmarks.md",
    "parser.md",
    "parser-measured.md",
    "proofs.md",
    "settings.md",
}


def test_the_readme_has_at_most_700_words():
    assert len((CHECKOUT / "README.md").read_text(encoding="utf-8").split()) <= 700


def test_the_documentation_has_at_most_22_500_words():
    pages = [page for page in CHECKOUT.glob("docs/*.md") if page.name not in GENERATED]
    assert pages
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 22_500


def test_citation_and_image_have_the_version_of_the_package():
    version = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    citation = yaml.safe_load((CHECKOUT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == version
    for name, tag in (("Dockerfile", r"bench-assets:(\S+)"), ("values.yaml", r"tag: ([\d.]+\w*)")):
        assert set(re.findall(tag, (CHECKOUT / "deploy" / name).read_text("utf-8"))) == {version}
