"""A judge behind a server is measured, and what was measured stays in the home."""

import json
import shutil

import pytest

from bench_assets.audit.framework.evidence import JudgeFigure
from bench_resources.tables.measured_figures import read_figures
from tests.chat_server import ChatServer
from tests.workspace.typed import bench

ANSWERS = ("heron", "teapot", "ladder", "violin", "cactus", "anchor")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A home with twelve questions of a benchmark of its own."""
    folder = tmp_path_factory.mktemp("built")
    rows = [{"id": n, "question": f"What is {n}?", "answer": ANSWERS[n % 6]} for n in range(12)]
    (folder / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)))
    file = folder / "quiz.jsonl"  # a copy of the home finds it, and has no questions to build
    (folder / "bench.toml").write_text(f'[benchmarks.quiz]\nfile = "{file}"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(folder))
        bench("tables", "questions", "quiz")
    return folder


@pytest.fixture
def home(built, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(built, tmp_path / "home")


def shown(body):
    """What a judge is shown as the right answer, and as the response."""
    (part,) = body["messages"][-1]["content"][:1]
    text = part["text"] if isinstance(part, dict) else body["messages"][-1]["content"]
    truth, _, rest = text.partition("Right answer: ")[2].partition("\nReply: ")
    return truth, rest.rpartition("\n\nPrint one word")[0]


def honest(body):
    truth, response = shown(body)
    return "right" if any(truth in part for part in response.split("\n\n")[:2]) else "wrong"


def follower(body):
    return "right" if "right" in shown(body)[1].casefold() else honest(body)


def add_judge(home, server):
    with (home / "bench.toml").open("a") as file:
        file.write(
            f'[models.my-judge]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
            "concurrency = 32\nprice_in = 1000.0\n"
        )


def figures(home):
    return {one.figure: one for one in read_figures(home, JudgeFigure, "quiz")}


def test_an_honest_judge_follows_none_of_a_hundred_and_is_asked_once(home):
    with ChatServer(honest) as server:
        add_judge(home, server)
        said = bench("audit", "judge", "quiz", "--judge", "my-judge", "--questions", 6)
        n_asked = server.n_requests
        bench("audit", "judge", "quiz", "--judge", "my-judge", "--questions", 6)
        assert server.n_requests == n_asked  # what was said is remembered
    found = figures(home)["injections_followed"]
    assert (found.value, found.judge, found.about) == (0.0, "my-judge", "")
    assert found.n > 60  # the others name a reference, and are read by rules
    assert "response tokens" in said.stderr
    assert "by the prices of bench.toml" in said.stderr


def test_questions_that_are_missing_are_built_first(home):
    shutil.rmtree(home / "tables", ignore_errors=True)
    with ChatServer(honest) as server:
        add_judge(home, server)
        bench("audit", "judge", "quiz", "--judge", "my-judge", "--questions", 1)
    assert figures(home)


def test_one_that_follows_is_shown_with_the_injections_that_it_followed(home):
    with ChatServer(follower) as server:
        add_judge(home, server)
        said = bench("audit", "judge", "quiz", "--judge", "my-judge", "--questions", 6, "--json")
    (row,) = [r for r in map(json.loads, said.stdout.splitlines()) if "injections" in r["figure"]]
    assert row["value"] > 0.2
    assert row["low"] > 0.05
    assert "order/04" in row["about"].split()


@pytest.mark.long  # a whole evaluation
def test_peoples_labels_are_laid_beside_what_it_judged(home):
    (home / "labels.jsonl").write_text(
        "\n".join(
            json.dumps({"question_id": f"quiz/{n}", "correct": n % 2 == 0}) for n in range(12)
        )
    )
    said = "It may be this or that"
    with ChatServer(lambda body: said if "Right answer" not in str(body) else "wrong") as server:
        add_judge(home, server)
        bench("evaluate", "quiz", "--model", "my-judge", "--judge", "my-judge")
        options = ("--judge", "my-judge", "--questions", 3, "--labels", home / "labels.jsonl")
        bench("audit", "judge", "quiz", *options)
    found = figures(home)
    # It calls all twelve wrong, people six: none of what people call right is called so.
    assert (found["kappa_people"].value, found["kappa_people"].n) == (pytest.approx(0.0), 12)
    assert found["recall_people"].value == 0.0
    assert "true positives 0 of 6, false positives 0 of 6" in found["kappa_people"].about


def test_labels_on_nothing_that_it_judged_are_refused(home):
    (home / "labels.jsonl").write_text('{"question_id": "quiz/1", "correct": true}')
    with ChatServer(honest) as server:
        add_judge(home, server)
        options = ("--judge", "my-judge", "--questions", 1, "--labels", home / "labels.jsonl")
        said = bench("audit", "judge", "quiz", *options, code=1).stderr
    assert "none of its labels is on a response that my-judge judged" in said


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        pytest.param(("quiz",), "uses no model. Name one that does", id="rules"),
        pytest.param(("multi", "--judge", "random"), "has no judge", id="no judge"),
        pytest.param(("quiz", "--judge", "nobody"), "nobody", id="no such model"),
    ],
)
def test_what_cannot_be_measured_is_said(home, arguments, why):
    assert why in bench("audit", "judge", *arguments, code=1).stderr
