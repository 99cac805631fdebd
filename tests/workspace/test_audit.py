"""A judge is compared with people, and the figures stay in the home."""

import json
import shutil

import pytest

from bench_assets.evaluation.measured_figures import JudgeFigure
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


def add_judge(home, server):
    with (home / "bench.toml").open("a") as file:
        file.write(
            f'[models.my-judge]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
            "concurrency = 32\nprice_in = 1000.0\n"
        )


def figures(home):
    return {one.figure: one for one in read_figures(home, JudgeFigure, "quiz")}


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
        bench("audit", "judge", "quiz", "--labels", home / "labels.jsonl")
    found = figures(home)
    # It calls all twelve wrong, people six: none of what people call right is called so.
    assert (found["kappa_people"].value, found["kappa_people"].n) == (pytest.approx(0.0), 12)
    assert found["recall_people"].value == 0.0
    assert "true positives 0 of 6, false positives 0 of 6" in found["kappa_people"].about


@pytest.mark.parametrize(
    ("suite", "why"),
    [
        pytest.param("quiz", "none of its labels is on a response to quiz", id="nothing judged"),
        pytest.param("multi", "has no judge", id="no judge"),
    ],
)
def test_a_judge_that_cannot_be_compared_is_an_error(home, suite, why):
    (home / "labels.jsonl").write_text('{"question_id": "quiz/1", "correct": true}')
    command = ("audit", "judge", suite, "--labels", home / "labels.jsonl")
    assert why in bench(*command, code=1).stderr
