"""`bench bundle reproduce` and `pack` on a home of one small benchmark, also on two machines."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from bench_assets.core.schema.rows import Metric
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.images.locations import ImageFolder
from bench_resources.models.api.engine import ServerEngine
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.tables.parquet import TableFiles
from tests.bundles.reproducing import CHECKOUT, make_home
from tests.bundles.shelf import measure, packed
from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench
from tests.fakes.stores import response_file


@pytest.fixture
def home(tmp_path, monkeypatch):
    make_home(tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


KEY = ["shelf", "metrics"]


@pytest.fixture
def tables(home):
    return TableFiles(folder=str(home / "tables"))


def everything(home):
    return {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}


def test_a_bundle_is_verified_without_a_home(tmp_path, monkeypatch):
    measure(tmp_path / "home")
    packed(tmp_path / "home", tmp_path / "b.zip")
    shutil.rmtree(tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "none"))
    shown = bench("bundle", "verify", tmp_path / "b.zip").stdout
    assert "same digits: 3 numbers, compared with the bundle" in shown
    assert shown == bench("bundle", "verify", tmp_path / "b.zip").stdout
    found = json.loads(bench("bundle", "verify", tmp_path / "b.zip", "--json").stdout)
    assert found["status"] == "same"
    assert [row["value"] for row in found["metrics"]] == ["0.5", "1", "0"]
    assert not (tmp_path / "none").exists()


def test_a_bundle_that_is_not_there_cannot_be_evaluated(tmp_path):
    shown = bench("bundle", "verify", tmp_path / "b.zip", code=2).stderr.replace("\n", "")
    assert shown == f"cannot be evaluated: {tmp_path}/b.zip: no such file"


@pytest.mark.long
@pytest.mark.parametrize("model", ["written", "gone/step-1"])
def test_a_number_comes_out_again_and_the_tables_stay(home, model):
    before = everything(home / "tables")
    shown = bench("bundle", "reproduce", "shelf", model).stdout
    assert "same digits: 3 numbers, compared with the tables of this home" in shown
    found = json.loads(bench("bundle", "reproduce", "shelf", model, "--json").stdout)
    assert found["status"] == "same"
    assert [need["part"] for need in found["needs"]] == [
        *("task", "version", "scorer", "questions", "prompts", "responses", "judge")
    ]
    assert everything(home / "tables") == before


@pytest.mark.long
def test_a_response_that_is_another_now_is_named_with_its_cause(home):
    text = (home / "said.jsonl").read_text(encoding="utf-8")
    (home / "said.jsonl").write_text(text.replace('"Answer: B."', '"It is A."'), encoding="utf-8")
    found = json.loads(bench("bundle", "reproduce", "shelf", "written", "--json", code=1).stdout)
    assert found["divergences"][0] == {
        "step": "responses",
        "entry": "shelf/2 draw 0",
        "field": "text",
        "before": "Answer: B.",
        "after": "It is A.",
    }
    assert [(row["cause"], row["effect"]) for row in found["causes"]] == [
        ("in all", -0.25),
        ("asked again", -0.25),
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "says"),
    [
        pytest.param(["fridge", "written"], "no suite named 'fridge'", id="no such task"),
        pytest.param(["shelf", "writen"], "did you mean 'written'", id="a misspelt model"),
    ],
)
@pytest.mark.usefixtures("home")
def test_an_unknown_task_or_model_is_named(words, says):
    assert says in bench("bundle", "reproduce", *words, code=2).stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("part", "other", "says"),
    [
        pytest.param(r"\|v7\|", "|v9|", "version: v7; check out", id="a version"),
        pytest.param(r"^shelf", "shelf+acme", "same extensions", id="extensions"),
        pytest.param(r"scorer:\w+", "scorer:gone", "scorer: only ", id="a scorer"),
        pytest.param(r"data:\w+", "data:0c", "`bench tables questions shelf` builds",
                     id="other questions"),
    ],
)  # fmt: skip
def test_what_cannot_be_tried_says_what_is_missing(tables, part, other, says):
    rows = tables.read(KEY, Metric, "written")
    changed = [replace(row, signature=re.sub(part, other, row.signature)) for row in rows]
    tables.write(KEY, changed, Metric, "written")
    assert says in bench("bundle", "reproduce", "shelf", "written", code=2).stderr


@pytest.mark.long
def test_missing_responses_are_not_requested(home):
    with ChatServer(lambda body: "A") as server:
        section = f'[models.far]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        with (home / "bench.toml").open("a", encoding="utf-8") as file:
            file.write(section)
        store = home / "responses.sqlite"
        spec = ServerSpec(kind="server", base_url=server.base_url, model="m")
        engine = ServerEngine(spec, ImageFolder(str(home / "images")).read)
        far = CachingModel("far", engine, response_file(store))
        measure(home, model=far)
        server.forget()
        bench("bundle", "reproduce", "shelf", "far")
        store.unlink()
        assert (
            "`bench evaluate` requests the missing responses"
            in bench("bundle", "reproduce", "shelf", "far", code=2).stderr
        )
        assert server.n_requests == 0


ELSEWHERE = {
    "LC_ALL": "tr_TR.UTF-8",
    "TZ": "Pacific/Kiritimati",
    "OMP_NUM_THREADS": "3",
    "OPENBLAS_NUM_THREADS": "3",
    "PYTHONHASHSEED": "4711",
}
HERE = dict.fromkeys(ELSEWHERE, "1") | {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"}


@pytest.mark.long
def test_two_machines_say_the_same_digits(tmp_path):
    """Two homes at two places, as processes: other locale, time zone, threads and hashes."""
    shown = []
    for place, machine in (("a", HERE), ("b c/\u00e4", ELSEWHERE)):
        home = tmp_path / place / "home"
        make_home(home)
        outputs = []
        for words in (
            ["bundle", "reproduce", "shelf", "gone/step-1"],
            ["bundle", "pack", "shelf", "written", str(home / "b.zip"), "--json"],
            ["bundle", "verify", str(home / "b.zip")],
        ):
            command = [sys.executable, "-m", "bench_assets", *words]
            env = os.environ | machine | {"BENCH_HOME": str(home), "PYTHONPATH": str(CHECKOUT)}
            done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, check=True)
            outputs.append(done.stdout.decode().replace(str(home), "HOME"))
        shown.append((outputs, (home / "b.zip").read_bytes()))
    assert shown[0] == shown[1]
    assert "same digits: 3 numbers" in shown[0][0][2]
