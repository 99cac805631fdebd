"""Hooks of the documentation site: READMEs outside docs/ become pages, and links lead to them."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^```(?P<language>\w+) [^\n]*$", re.MULTILINE)
_LINK = re.compile(r"\]\((?P<target>[^)#\s]+\.(?:md|ipynb))(?P<anchor>#[^)\s]*)?\)")


def outside() -> dict[Path, str]:
    """Each README outside docs/ to its page of the site, each notebook to its file there."""
    pages = {ROOT / "bench_assets" / "README.md": "map.md"}
    for folder, place in (("bench_assets/suites", "suites"), ("examples", "examples")):
        for file in sorted((ROOT / folder).rglob("README.md")):
            pages[file] = f"{place}/{file.parent.relative_to(ROOT / folder)}.md"
    pages |= {file: f"examples/{file.name}" for file in sorted(ROOT.glob("examples/*.ipynb"))}
    return pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the READMEs and notebooks."""
    for source, place in outside().items():
        text = source.read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Lead links out of docs/ to the pages of the site, and drop how the tests try a block."""
    pages = outside()
    sources = {place: source for source, place in pages.items()}
    here = sources.get(page.file.src_uri, ROOT / "docs" / page.file.src_uri)
    up = "../" * page.file.src_uri.count("/")

    def lead(link: re.Match[str]) -> str:
        target = (here.parent / link["target"]).resolve()
        if target in pages:
            place = pages[target]
        elif page.file.src_uri in sources and target.is_relative_to(ROOT / "docs"):
            place = str(target.relative_to(ROOT / "docs"))
        else:
            return link[0]
        return f"]({up}{place}{link['anchor'] or ''})"

    return _FENCE.sub(r"```\g<language>", _LINK.sub(lead, markdown))
