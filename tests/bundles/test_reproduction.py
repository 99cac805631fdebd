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
from tests.bundles.shelf import TASK, measure, pack_bundle
from tests.fakes.chat_server import ChatServer
from tests.fakes.commands import bench, file_contents
from tests.fakes.stores import response_file


@pytest.fixture
def home(tmp_path, monkeypatch):
    make_home(tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


METRICS = ["shelf", "metrics"]


@pytest.fixture
def tables(home):
    return TableFiles(folder=str(home / "tables"))


def test_a_bundle_is_verified_without_a_home(tmp_path, monkeypatch):
    bundle = tmp_path / "b.zip"
    measure(tmp_path / "home")
    pack_bundle(tmp_path / "home", bundle)
    shutil.rmtree(tmp_path / "home")
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "none"))

    output = bench("bundle", "verify", bundle).stdout
    assert "same digits: 3 numbers, compared with the bundle" in output
    assert output == bench("bundle", "verify", bundle).stdout

    report = json.loads(bench("bundle", "verify", bundle, "--json").stdout)
    assert report["status"] == "same"
    assert [row["value"] for row in report["metrics"]] == ["0.5", "1", "0"]
    assert not (tmp_path / "none").exists()


def test_a_missing_bundle_is_an_error_with_its_path(tmp_path):
    output = bench("bundle", "verify", tmp_path / "b.zip", code=2).stderr.replace("\n", "")
    assert output == f"cannot be evaluated: {tmp_path}/b.zip: no such file"


@pytest.mark.long
@pytest.mark.parametrize("model", ["written", "gone/step-1"])
def test_a_number_is_reproduced_and_the_tables_stay(home, model):
    tables_before = file_contents(home / "tables")
    output = bench("bundle", "reproduce", "shelf", model).stdout
    assert "same digits: 3 numbers, compared with the tables of this home" in output
    report = json.loads(bench("bundle", "reproduce", "shelf", model, "--json").stdout)
    assert report["status"] == "same"
    parts = [need["part"] for need in report["needs"]]
    assert parts == ["task", "version", "scorer", "questions", "prompts", "responses", "judge"]
    assert file_contents(home / "tables") == tables_before


@pytest.mark.long
def test_a_changed_response_is_named_with_its_effect(home):
    text = (home / "said.jsonl").read_text(encoding="utf-8")
    (home / "said.jsonl").write_text(text.replace('"Answer: B."', '"It is A."'), encoding="utf-8")
    report = json.loads(bench("bundle", "reproduce", "shelf", "written", "--json", code=1).stdout)
    first, *_ = report["divergences"]
    assert first == {
        "step": "responses",
        "entry": "shelf/2 draw 0",
        "field": "text",
        "before": "Answer: B.",
        "after": "It is A.",
    }
    effects = {row["cause"]: row["effect"] for row in report["causes"]}
    assert effects == {"in all": -0.25, "asked again": -0.25}


@pytest.mark.long
@pytest.mark.parametrize(
    ("names", "expected_message"),
    [
        pytest.param(["fridge", "written"], "no suite named 'fridge'", id="no such task"),
        pytest.param(["shelf", "writen"], "did you mean 'written'", id="a misspelt model"),
    ],
)
@pytest.mark.usefixtures("home")
def test_an_unknown_task_or_model_is_named(names, expected_message):
    assert expected_message in bench("bundle", "reproduce", *names, code=2).stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("pattern", "replacement", "expected_message"),
    [
        pytest.param(r"\|v\d+\|", "|v0|", f"version: v{TASK.version}; check out", id="a version"),
        pytest.param(r"^shelf", "shelf+acme", "same extensions", id="extensions"),
        pytest.param(r"scorer:\w+", "scorer:gone", "scorer: only ", id="a scorer"),
        pytest.param(r"data:\w+", "data:0c", "`bench tables questions shelf` builds",
                     id="other questions"),
    ],
)  # fmt: skip
def test_a_number_that_is_not_reproducible_says_why(tables, pattern, replacement, expected_message):
    rows = tables.read(METRICS, Metric, "written")
    changed = [replace(row, signature=re.sub(pattern, replacement, row.signature)) for row in rows]
    tables.write(METRICS, changed, Metric, "written")
    assert expected_message in bench("bundle", "reproduce", "shelf", "written", code=2).stderr


@pytest.mark.long
def test_missing_responses_are_not_requested(home):
    store = home / "responses.sqlite"
    with ChatServer(lambda body: "A") as server:
        section = f'[models.far]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        with (home / "bench.toml").open("a", encoding="utf-8") as file:
            file.write(section)
        spec = ServerSpec(kind="server", base_url=server.base_url, model="m")
        engine = ServerEngine(spec, ImageFolder(str(home / "images")).read)
        measure(home, model=CachingModel("far", engine, response_file(store)))
        server.forget()

        bench("bundle", "reproduce", "shelf", "far")
        store.unlink()
        without_responses = bench("bundle", "reproduce", "shelf", "far", code=2)

        assert "`bench evaluate` requests the missing responses" in without_responses.stderr
        assert server.n_requests == 0


ELSEWHERE = {
    "LC_ALL": "tr_TR.UTF-8",
    "TZ": "Pacific/Kiritimati",
    "OMP_NUM_THREADS": "3",
    "OPENBLAS_NUM_THREADS": "3",
    "PYTHONHASHSEED": "4711",
}
HERE = dict.fromkeys(ELSEWHERE, "1") | {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"}


def reproduce_and_pack(home, environment):
    """The outputs of commands, in which HOME stands for the home, and the bytes of a bundle."""
    make_home(home)
    bundle = home / "b.zip"
    variables = {"BENCH_HOME": str(home), "PYTHONPATH": str(CHECKOUT)}
    outputs = []
    for arguments in (
        ["bundle", "reproduce", "shelf", "gone/step-1"],
        ["bundle", "pack", "shelf", "written", str(bundle), "--json"],
        ["bundle", "verify", str(bundle)],
    ):
        result = subprocess.run(
            [sys.executable, "-m", "bench_assets", *arguments],
            env=os.environ | environment | variables,
            cwd=home.parent,
            capture_output=True,
            check=True,
        )
        outputs.append(result.stdout.decode().replace(str(home), "HOME"))
    return outputs, bundle.read_bytes()


@pytest.mark.long
def test_two_machines_give_the_same_digits(tmp_path):
    """Homes at two places, in processes of other locale, time zone, threads and hash seeds."""
    here, here_bundle = reproduce_and_pack(tmp_path / "a" / "home", HERE)
    elsewhere, bundle = reproduce_and_pack(tmp_path / "b c" / "\u00e4" / "home", ELSEWHERE)
    assert here == elsewhere
    assert here_bundle == bundle
    _, _, verified = here
    assert "same digits: 3 numbers" in verified
