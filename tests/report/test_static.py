import ast
import re
from dataclasses import fields
from hashlib import sha256
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

VENDOR = STATIC / "vendor"
SCRIPTS = sorted((STATIC / "app").rglob("*.js"))
PAGE = (STATIC / "index.html").read_text(encoding="utf-8")
EACH_SCRIPT = pytest.mark.parametrize(
    "script", SCRIPTS, ids=lambda path: path.relative_to(STATIC / "app").as_posix()
)


@EACH_SCRIPT
def test_no_script_makes_elements_or_code_of_texts(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert re.findall(forbidden, text) == []


@EACH_SCRIPT
def test_no_script_names_a_web_address(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []


def test_the_page_loads_every_style_and_the_one_script() -> None:
    loaded_files = set(re.findall(r"(?:src|href)=\"((?:app|style)/[^\"]+)\"", PAGE))
    styles = {path.relative_to(STATIC).as_posix() for path in STATIC.glob("style/*")}
    assert loaded_files == {"app/report.js", *styles}


def test_the_script_has_every_module() -> None:
    script = bundled_script(STATIC / "app", "main.js").decode()
    for module in SCRIPTS:
        heading = module.read_text(encoding="utf-8").splitlines()[0]
        assert heading.startswith("/* ")
        assert heading in script


def written_names() -> set[str]:
    """Keys of data and fields of rows, as the Python code of the report writes them."""
    names: set[str] = set()
    for file in {*STATIC.parent.rglob("*.py")} - {Path(responses.__file__)}:
        names |= _literal_names(ast.parse(file.read_text(encoding="utf-8")))
    rows = (Metric, PublishedNumber)
    people = (AnnotationProgress, AnnotatorQuality, UnitDisagreement, GoldFunnel)
    names |= {field.name for row in (*rows, *people) for field in fields(row)}
    return names | {*responses._RESPONSE, *responses._SCORED, *responses._JUDGED}


def _literal_names(module: ast.Module) -> set[str]:
    """Constants among the keys of dictionaries, and in tuples that have a name."""
    names: set[str] = set()
    for node in ast.walk(module):
        match node:
            case ast.Dict(keys=keys):
                names |= {str(key.value) for key in keys if isinstance(key, ast.Constant)}
            case ast.Assign(targets=[ast.Name()], value=ast.Tuple() as values):
                constants = [part for part in ast.walk(values) if isinstance(part, ast.Constant)]
                names |= {str(constant.value) for constant in constants}
    return names


def test_scripts_read_fields_that_are_written() -> None:
    """A name with an underscore is one of the data, unless a script itself gives it a value."""
    code = "\n".join(script.read_text(encoding="utf-8") for script in SCRIPTS)
    types = (STATIC / "app" / "types.d.ts").read_text(encoding="utf-8")
    read_names = set(re.findall(r"\.([a-z]+(?:_[a-z0-9]+)+)\b", code))
    read_names |= set(re.findall(r"\b([a-z]+(?:_[a-z0-9]+)+)\??:", types))
    script_names = set(re.findall(r"\b([a-z]+(?:_[a-z0-9]+)+)\b(?=:|[,} ]*=>)", code))
    assert {"n_scored", "lower_is_better", "asked_tokens"} <= read_names
    assert read_names - script_names - written_names() == set()


def test_the_vendored_scripts_have_the_digests_of_their_table() -> None:
    table = (VENDOR / "README.md").read_text(encoding="utf-8")
    digests = dict(re.findall(r"^\| `(.+?)` \|.*\| `([0-9a-f]{64})` \|$", table, re.MULTILINE))
    scripts = VENDOR.glob("*.js")
    assert {script.name: sha256(script.read_bytes()).hexdigest() for script in scripts} == digests
    assert digests.keys() == {"d3.min.js", "plot.umd.min.js"}
