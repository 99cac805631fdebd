import hashlib
import io
import re
import tomllib
import zipfile

import pytest

from tests.cases import read_rows
from tests.fakes.commands import bench, lines
from tests.resources.datasets.stand_in import StandIn, serving


def test_every_table_of_the_papers_has_a_command(home):
    listed = lines(bench("tables", "paper", "--json"))
    commands = {row["command"] for row in listed}
    assert {*read_rows(__file__, "paper_commands.jsonl")} <= commands
    assert all(row["about"] for row in listed)
    names = [row["name"] for row in listed]
    assert [name for name in names if re.search("(^|/)(predictions|scores|metrics)$", name)] == []


def test_the_tables_of_an_unknown_suite_are_no_empty_list(home):
    assert "did you mean 'codis'?" in bench("tables", "paper", "codsi", code=1).stderr


@pytest.mark.long
def test_a_table_of_a_paper_is_made_for_a_model(home, source):
    command = ("tables", "paper", "codis", "output_variability", "--source", source)
    rows = lines(bench(*command, "--model", "random", "--json"))
    assert {row["condition"] for row in rows} == {"no_context"}
    assert {row["metric"] for row in rows} == {"output_variability"}
    assert "name it with --model" in bench(*command, fails=True).output


@pytest.mark.long
def test_an_unknown_table_of_a_paper_is_refused_with_the_known_ones(home, source):
    result = bench("tables", "paper", "codis", "radar", "--source", source, fails=True)
    assert "known: output_variability" in result.output


def zip_folder(folder):
    """Return a ZIP archive whose folder CODIS-1/data holds the files of a folder."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for file in folder.rglob("*"):
            archive.write(file, f"CODIS-1/data/{file.relative_to(folder)}")
    return data.getvalue()


@pytest.fixture
def server(source):
    """A server of a release of CODIS."""
    with serving(StandIn({"codis.zip": zip_folder(source)})) as running:
        yield running


@pytest.fixture
def address(server, source):
    """The address of the release, with its digest."""
    digest = hashlib.sha256(zip_folder(source)).hexdigest()
    return f"{server.url}/codis.zip#sha256={digest}&below=data"


@pytest.mark.long
def test_a_fetched_release_is_stored_in_the_home(home, server, address):
    section = bench("home", "fetch", "codis", address).stdout
    assert section == f'[sources]\ncodis = "{address}"\n'
    (home / "bench.toml").write_text(section)
    server.requests.clear()
    assert len(lines(bench("tables", "questions", "codis", "--json"))) == 4
    assert server.requests == []
    usage = {row["what"]: row for row in lines(bench("home", "usage", "--json"))}
    assert usage["sources/codis"]["about"] == address


def test_what_a_fetch_prints_is_added_to_the_sources_of_a_file(home, address):
    toml = '[sources]\nblink = "blink"\n'
    (home / "bench.toml").write_text(toml)
    toml += bench("home", "fetch", "codis", address).stdout
    assert tomllib.loads(toml) == {"sources": {"blink": "blink", "codis": address}}


def test_a_release_that_is_not_for_fetching_is_refused_with_instructions(home):
    output = bench("home", "fetch", "cogbench", fails=True).output
    assert "name it in [sources] of bench.toml" in output


def test_an_address_without_a_digest_is_an_error_of_its_entry(home):
    (home / "bench.toml").write_text('[sources]\ncodis = "https://x.org/codis.zip"\n')
    output = " ".join(bench("tables", "questions", "codis", fails=True).output.split())
    assert "bench.toml, [sources], codis: 'https://x.org/codis.zip' is not an address" in output
