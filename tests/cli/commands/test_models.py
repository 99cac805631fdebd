"""Encoders of bench.toml in the commands: they have names as models do, and no chat."""

import pytest

from bench_assets.suites.journeybench.retrieval import assets
from bench_resources.encoders.dual_encoder import open_encoder
from tests.fakes.commands import bench, lines
from tests.suites.journeybench.release import write_release


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with an encoder ``clip``, whose vectors are drawn instead of computed."""
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(
        assets, "open_encoder", lambda name, spec, *rest: open_encoder(name, None, *rest)
    )
    source = write_release(tmp_path / "source")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/bench.toml").write_text(
        f'[sources]\njourneybench = "{source}"\n'
        '[suites.journeybench.encoders]\nclip = { path = "a/clip" }\n'
    )
    return tmp_path / "home"


def test_an_encoder_is_listed_but_is_no_model(home):
    assert lines(bench("models", "list", "clip", "--json")) == [
        {"name": "clip", "kind": "encoder", "place": "a/clip", "embedded": False}
    ]
    for arguments in (("models", "check", "clip"), ("evaluate", "codis", "--model", "clip")):
        result = bench(*arguments, fails=True)
        assert "clip is an encoder" in result.output.replace("\n", " ")


@pytest.mark.long
def test_an_encoder_is_evaluated_by_its_name_and_removed(home):
    task = "journeybench/retrieval"
    bench("evaluate", task, "--model", "clip", "--dry-run")
    rows = lines(bench("evaluate", task, "--model", "clip", "--json"))
    assert {row["model"] for row in rows} == {"clip"}
    many = ("evaluate", task, "--model", "clip", "--model", "random", "--keep-going", "--json")
    assert [one["error"] for one in lines(bench(*many))] == ["", ""]
    assert "same digits" in bench("bundle", "reproduce", task, "clip").stdout
    bench("home", "remove", "clip", "--yes")
    left = lines(bench("tables", "show", f"{task}/metrics", "--json"))
    assert {row["model"] for row in left} == {"random"}


def test_a_model_without_a_section_is_listed_if_it_is_named(home):
    (row,) = lines(bench("models", "list", "random+likelihood", "--json"))
    assert (row["name"], row["kind"]) == ("random+likelihood", "elicited")
