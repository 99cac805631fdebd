"""What the page is made of: nothing from outside, nothing forbidden by its policy, styles apart."""

import ast
import re
from dataclasses import fields
from pathlib import Path

import pytest

from bench_assets.annotation.answers.progress import AnnotationProgress
from bench_assets.annotation.answers.quality import AnnotatorQuality, UnitDisagreement
from bench_assets.core.gold.funnel import GoldFunnel
from bench_assets.core.schema.published_numbers import PublishedNumber
from bench_assets.core.schema.rows import Metric
from bench_assets.report.samples import responses
from bench_assets.report.site.folder import STATIC
from bench_assets.report.site.scripts import bundled_script

SCRIPTS = sorted((STATIC / "app").rglob("*.js"))
PAGE = (STATIC / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "script", SCRIPTS, ids=lambda path: path.relative_to(STATIC / "app").as_posix()
)
def test_no_script_makes_elements_or_code_of_texts(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert re.findall(forbidden, text) == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    assert len(text.splitlines()) <= 250


def test_the_page_loads_every_style_that_lies_beside_it_and_the_script_of_all_modules() -> None:
    loaded = set(re.findall(r"(?:src|href)=\"((?:app|style)/[^\"]+)\"", PAGE))
    styles = {path.relative_to(STATIC).as_posix() for path in STATIC.glob("style/*")}
    assert loaded == {"app/report.js", *styles}


def test_the_script_has_every_module() -> None:
    script = bundled_script(STATIC / "app", "main.js").decode()
    for module in SCRIPTS:
        heading = module.read_text(encoding="utf-8").splitlines()[0]
        assert heading.startswith("/* ")
        assert heading in script


def written_names() -> set[str]:
    """Keys of data and fields of rows, as the Python code of the report writes them."""
    found: set[str] = set()
    for file in {*STATIC.parent.rglob("*.py")} - {Path(responses.__file__)}:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Dict(keys=keys):
                    found |= {str(one.value) for one in keys if isinstance(one, ast.Constant)}
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple() as names):
                    if name != "_RESPONSE":  # columns that are read
                        found |= {
                            str(one.value)
                            for one in ast.walk(names)
                            if isinstance(one, ast.Constant)
                        }
    rows = (Metric, PublishedNumber)
    people = (AnnotationProgress, AnnotatorQuality, UnitDisagreement, GoldFunnel)
    found |= {field.name for row in (*rows, *people) for field in fields(row)}
    return found | {*responses._RESPONSE, *responses._SCORED, *responses._JUDGED}


def test_scripts_read_fields_that_are_written() -> None:
    """Names with underscores are those of data: the scripts' own names have none."""
    code = "\n".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    types = (STATIC / "app" / "types.d.ts").read_text(encoding="utf-8")
    read = set(re.findall(r"\.([a-z]+(?:_[a-z0-9]+)+)\b", code))
    read |= set(re.findall(r"\b([a-z]+(?:_[a-z0-9]+)+)\??:", types))
    own = set(re.findall(r"\b([a-z]+(?:_[a-z0-9]+)+)\b(?=:|[,} ]*=>)", code))
    assert {"n_scored", "lower_is_better", "asked_tokens"} <= read
    assert read - own - written_names() == set()
