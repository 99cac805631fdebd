"""The papers' other tables by one command each, and releases that are fetched."""

import hashlib
import io
import re
import zipfile

import pytest

from tests.cases import read_rows
from tests.fakes.codis_source import entry, write_release
from tests.fakes.commands import bench, lines
from tests.resources.datasets.stand_in import StandIn, serving


@pytest.fixture
def source(tmp_path):
    pairs = [entry(), entry(id="001", image_id="b.png")]
    return write_release(tmp_path / "codis", pairs, images=("a.png", "b.png"))


def test_every_table_of_the_papers_has_a_command(home):
    listed = lines(bench("tables", "paper", "--json"))
    commands = {row["command"] for row in listed}
    assert {*read_rows(__file__, "paper_commands.jsonl")} <= commands
    assert all(row["about"] for row in listed)
    assert not [
        row for row in listed if re.search("(^|/)(predictions|scores|metrics)$", row["name"])
    ]


@pytest.mark.long
def test_a_study_makes_all_that_it_is_made_of(home, source):
    study = ("tables", "paper", "codis", "output_variability", "--source", source)
    rows = lines(bench(*study, "--model", "random", "--json"))
    assert {row["condition"] for row in rows} == {"no_context"}
    assert {row["metric"] for row in rows} == {"output_variability"}
    assert "name it with --model" in bench(*study, fails=True).output
    known = "known: output_variability"
    assert (
        known in bench("tables", "paper", "codis", "radar", "--source", source, fails=True).output
    )


def zipped(folder):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        for file in folder.rglob("*"):
            opened.write(file, f"CODIS-1/data/{file.relative_to(folder)}")
    return archive.getvalue()


@pytest.mark.long
def test_a_release_is_fetched_into_the_home_and_evaluated_from_there(home, source):
    data = zipped(source)
    with serving(StandIn({"codis.zip": data})) as server:
        address = f"{server.url}/codis.zip#sha256={hashlib.sha256(data).hexdigest()}&below=data"
        written = bench("home", "fetch", "codis", address).stdout
        assert written == f'[sources]\ncodis = "{address}"\n'
        (home / "bench.toml").write_text(written)
        server.requests.clear()
        assert len(lines(bench("tables", "questions", "codis", "--json"))) == 4
        assert server.requests == []
    (kept,) = [
        row for row in lines(bench("home", "usage", "--json")) if row["what"] == "sources/codis"
    ]
    assert kept["about"] == address


def test_what_may_not_be_fetched_says_what_to_do_by_hand(home):
    assert (
        "name it in [sources] of bench.toml"
        in bench("home", "fetch", "cogbench", fails=True).output
    )


def test_an_address_that_pins_nothing_is_an_error_of_its_entry(home):
    (home / "bench.toml").write_text('[sources]\ncodis = "https://x.org/codis.zip"\n')
    output = " ".join(bench("tables", "questions", "codis", fails=True).output.split())
    assert "bench.toml, [sources], codis: 'https://x.org/codis.zip' is not an address" in output
