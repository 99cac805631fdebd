import json
from xml.etree import ElementTree as ET

import pytest

from tests.fakes.chat_server import ChatServer, texts
from tests.fakes.commands import bench, lines
from tests.fakes.signs import N, read_well, write_home

MODELS = {"half": "responses", "read": "responses", "all": "all"}  # name -> file of responses


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with three models, and with a helper that reads responses.

    Rules read half of the responses of "half"; the helper reads the same ones of "read"; and all
    responses of "all" state their answer.
    """
    home = tmp_path_factory.mktemp("gate") / "home"
    with ChatServer(lambda body: read_well("".join(texts(body)))) as server, \
            pytest.MonkeyPatch.context() as patch:  # fmt: skip
        patch.setenv("BENCH_HOME", str(home))
        sections = [
            f'[models.{name}]\nkind = "recorded"\nfile = "{file}.jsonl"\n'
            for name, file in MODELS.items()
        ]
        served = f'[models.helper]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "h"\n'
        file = write_home(home, "".join([*sections, served]))
        file.write_text(file.read_text().replace(', "model": "m"', ""))
        responses = [{"question_id": f"signs/{n}", "text": "Answer: A"} for n in range(N)]
        (home / "all.jsonl").write_text("\n".join(map(json.dumps, responses)))
        bench("evaluate", "signs", "--model", "half", "--model", "all", "--reader", "rules")
        bench("evaluate", "signs", "--model", "read", "--reader", "helper")
    return home


@pytest.fixture(autouse=True)
def _at_home(home, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(home))


def test_models_of_different_readers_are_not_comparable(tmp_path):
    """All outputs of the gate give the cause; the exit code is 3 on undecided, and 1 on worse."""
    file = tmp_path / "gate.xml"
    diff = ("tables", "diff", "half", "read", "--suite", "signs")
    undecided = bench(*diff, "--fail-on", "undecided", "--junit", file, code=3)
    assert "read against half: not comparable at " in undecided.stdout
    assert ": other reader." in undecided.stdout
    command = "signs --model half --model read --reader helper"
    assert f"for a verdict: bench evaluate {command}" in undecided.stderr
    (error,) = ET.parse(file).getroot().iter("error")
    assert error.get("message") == "not comparable: other reader"
    worse = bench(*diff, "--fail-on", "worse", code=1).stderr
    assert "half and read: no verdict: not comparable at " in worse
    first, *_ = lines(bench(*diff, "--json"))
    assert (first["verdict"], first["p"]) == ("not comparable", None)


def test_unread_responses_are_undecided_with_the_next_command():
    diff = ("tables", "diff", "half", "all", "--suite", "signs", "--fail-on", "undecided")
    result = bench(*diff, code=3)
    assert (
        "all against half: undecided on 1 of 1 tasks"
        " (signs: 50.0 % of the responses of half are unread)."
    ) in result.stdout
    assert "for a verdict: bench evaluate signs --model half --reader MODEL" in result.stderr
