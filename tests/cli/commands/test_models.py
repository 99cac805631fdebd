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


def test_an_encoder_is_listed(home):
    assert lines(bench("models", "list", "clip", "--json")) == [
        {"name": "clip", "kind": "encoder", "place": "a/clip", "embedded": False}
    ]


@pytest.mark.parametrize(
    "command",
    [("models", "check", "clip"), ("evaluate", "codis", "--model", "clip")],
    ids=["check", "evaluate"],
)
def test_an_encoder_is_refused_as_a_chat_model(home, command):
    output = bench(*command, fails=True).output
    assert "clip is an encoder" in output.replace("\n", " ")


@pytest.mark.long
def test_an_encoder_is_evaluated_by_its_name_and_removed(home):
    task = "journeybench/retrieval"
    bench("evaluate", task, "--model", "clip", "--dry-run")
    rows = lines(bench("evaluate", task, "--model", "clip", "--json"))
    assert {row["model"] for row in rows} == {"clip"}
    both = ("--model", "clip", "--model", "random", "--keep-going")
    results = lines(bench("evaluate", task, *both, "--json"))
    assert [result["error"] for result in results] == ["", ""]
    assert "same digits" in bench("bundle", "reproduce", task, "clip").stdout
    bench("home", "remove", "clip", "--yes")
    remaining = lines(bench("tables", "show", f"{task}/metrics", "--json"))
    assert {row["model"] for row in remaining} == {"random"}


@pytest.mark.parametrize(
    ("name", "kind"), [("random", "random"), ("random+likelihood", "elicited")]
)
def test_a_model_without_a_section_is_listed_by_its_name(home, name, kind):
    (row,) = lines(bench("models", "list", name, "--json"))
    assert (row["name"], row["kind"]) == (name, kind)
