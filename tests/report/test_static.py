"""What the page is made of: nothing from outside, nothing that its policy would forbid."""

import re
from hashlib import sha256
from pathlib import Path

import pytest

from bench_assets.report.site.folder import STATIC

SCRIPTS = sorted((STATIC / "app").glob("*.js"))
PAGE = (STATIC / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_elements_or_code_of_texts(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert re.findall(forbidden, text) == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    assert len(text.splitlines()) <= 250


def test_the_page_has_no_script_and_no_style_of_its_own() -> None:
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", PAGE) == []
    assert re.findall(r"(?:src|href)=\"(?:https?:)?//", PAGE) == []


def test_the_page_loads_every_script_and_style_that_lies_beside_it() -> None:
    loaded = set(re.findall(r"(?:src|href)=\"((?:app|style)/[^\"]+)\"", PAGE))
    lie = {path.relative_to(STATIC).as_posix() for path in (*SCRIPTS, *STATIC.glob("style/*"))}
    assert loaded == lie


def test_what_others_wrote_is_as_they_publish_it() -> None:
    table = (STATIC / "vendor" / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| `([^`]+)` \|.*ISC, `([^`]+)` \| `([0-9a-f]{64})` \|$", table, re.M)
    assert len(lines) == 2
    for name, licence, digest in lines:
        assert sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() == digest
        assert "Permission to use" in (STATIC / "vendor" / licence).read_text(encoding="utf-8")
