"""The documentation site: every page has a place in the navigation, and none is missing."""

import re

import yaml

from tests.docs.blocks import CHECKOUT

CONFIGURATION = (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8")
IN_OTHER_FOLDERS = {
    "map.md": "bench_assets/README.md",
    "suites/": "bench_assets/suites/",
    "examples/": "examples/",
}


def named() -> list[str]:
    """The pages of the navigation."""
    return re.findall(r"[\w/-]+\.md", CONFIGURATION.partition("\nnav:\n")[2])


def source(page: str) -> str:
    """The file of a page, as docs/site_hooks.py takes it."""
    for place, folder in IN_OTHER_FOLDERS.items():
        if page == place:
            return folder
        if place.endswith("/") and page.startswith(place):
            return f"{folder}{page.removeprefix(place).removesuffix('.md')}/README.md"
    return f"docs/{page}"


def test_every_page_of_the_navigation_exists():
    assert [page for page in named() if not (CHECKOUT / source(page)).is_file()] == []


def test_every_page_is_in_the_navigation():
    pages = [*CHECKOUT.glob("docs/**/*.md"), *CHECKOUT.glob("bench_assets/suites/*/README.md")]
    missing = {str(page.relative_to(CHECKOUT)) for page in pages} - {source(one) for one in named()}
    assert missing == set()


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
