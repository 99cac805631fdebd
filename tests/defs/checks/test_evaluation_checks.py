"""A change re-asks exactly what it changed; a killed run loses only what was in flight."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.core.schema.rows import Prediction
from bench_assets.defs.checks.evaluation_checks import evaluation_checks
from bench_assets.evaluation.task import ByModel
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import load_settings
from bench_resources.tables.parquet import TableFiles
from tests.fakes.chat_server import Answer, ChatServer, texts
from tests.fakes.codis_release import entries, image, write_release
from tests.fakes.quiz import TASK, judge_right, questions_asset, quiz, run_for

PAIRS = entries()[:60]  # each shows an image of its own
N = 2 * len(PAIRS)
CONCURRENCY = 4


def response(body):
    """Answers that depend on everything that was asked; a judge's word for a judge's prompt."""
    text = " ".join(texts(body))
    if "groundtruth" in text:
        return "right" if len(text) % 2 else "wrong"
    return sha256(json.dumps(body["messages"]).encode()).hexdigest()


@pytest.fixture
def server():
    with ChatServer(response) as running:
        yield running


@pytest.fixture
def home(tmp_path, server):
    write_release(tmp_path / "codis", PAIRS)
    folder = tmp_path / "home"
    folder.mkdir()
    model = f'kind = "server"\nbase_url = "{server.base_url}"\nmax_tries = 2\n'
    (folder / "bench.toml").write_text(
        '[sources]\ncodis = "../codis"\n[suites.codis]\njudge = "judge"\n'
        f'[models.m]\n{model}model = "m"\nconcurrency = {CONCURRENCY}\n'
        f'[models.judge]\n{model}model = "judge"\n'
    )
    return folder


def evaluate(home):
    tables = home / "tables"
    with Workbench(load_settings(home), ["codis"], scratch=tables) as bench:
        bench.build_questions("codis")
        bench.evaluate(["codis"], "m")
        return bench.rows("codis/predictions", "m"), bench.rows("codis/scores", "m")


def n_requests(server, model):
    return sum(body["model"] == model for body in server.bodies)


@pytest.mark.long
def test_a_second_materialization_asks_nothing_and_an_edit_asks_what_it_edits(home, server):
    before = evaluate(home)
    assert (n_requests(server, "m"), n_requests(server, "judge")) == (N, N)
    server.forget()
    shutil.rmtree(home / "tables")  # all is made again, of what was responded
    assert evaluate(home) == before
    assert server.n_requests == 0

    pairs = deepcopy(PAIRS)
    for pair in pairs[:20]:  # 20 texts
        pair["context"]["context_1"] += " Today."
    for pair in pairs[20:40]:  # 20 answers
        pair["answer"]["answer_2"] = "Downwards."
    write_release(home.parent / "codis", pairs)
    for number in range(40, 50):  # 10 images with one pair each: 20 questions
        (home.parent / "codis" / "images" / f"{number:04d}.png").write_bytes(image(number, 17))
    after = evaluate(home)
    assert (n_requests(server, "m"), n_requests(server, "judge")) == (40, 60)
    edited = {f"codis/{n:03d}/1" for n in range(20)} | {f"codis/{n:03d}/2" for n in range(20, 40)}
    edited |= {f"codis/{n:03d}/{half}" for n in range(40, 50) for half in (1, 2)}
    changed = {new.question_id for old, new in zip(before[0], after[0], strict=True) if old != new}
    assert changed == {name for name in edited if not "codis/020" <= name < "codis/040"}


def test_only_failed_requests_of_the_smallest_task_are_repeated(tmp_path, server):
    model = f'kind = "server"\nbase_url = "{server.base_url}"\nmax_tries = 1\n'
    (tmp_path / "bench.toml").write_text(
        f'[suites.quiz]\njudge = "judge"\n[models.m]\n{model}model = "m"\n'
        f'[models.judge]\n{model}model = "judge"\n'
    )
    task = replace(TASK, judges={"paper": ByModel(judge_right)})
    right_half = [*evaluation_assets(task), *evaluation_checks(task, "main")]
    tables = TableFiles(folder=str(tmp_path / "tables"))

    def evaluate_quiz():
        return run_for("m", [questions_asset(quiz(5)), *right_half], tmp_path, raise_on_error=False)

    server.fail_next(2, Answer(status=400, text="no"))
    checks = evaluate_quiz().get_asset_check_evaluations()
    assert "every_question_answered" in [one.check_name for one in checks if not one.passed]
    assert not tables.exists(["quiz", "metrics"], "m")
    assert (n_requests(server, "m"), n_requests(server, "judge")) == (5, 0)
    server.forget()
    assert evaluate_quiz().success
    assert tables.exists(["quiz", "metrics"], "m")
    assert (n_requests(server, "m"), n_requests(server, "judge")) == (2, 5)
    assert not any(row.error for row in tables.read(["quiz", "predictions"], Prediction, "m"))


@pytest.mark.long
def test_a_killed_run_loses_only_what_was_in_flight_and_what_had_just_arrived(home, tmp_path):
    with ChatServer(response, latency=0.05) as slow:
        toml = (home / "bench.toml").read_text()
        port = toml.split("127.0.0.1:")[1].split("/")[0]
        (home / "bench.toml").write_text(toml.replace(port, str(slow.port)))
        bench = str(Path(sys.executable).parent / "bench")
        command = [bench, "evaluate", "codis", "--model", "m"]
        run = subprocess.Popen(command, env={**os.environ, "BENCH_HOME": str(home)})
        while slow.n_requests < N // 2 and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
        run.wait()
        time.sleep(0.1)  # what is in flight still arrives at the server
        killed_after = slow.n_requests
        assert N // 2 <= killed_after < N
        evaluate(home)
        # a response is stored within 20 ms, so one more of each connection may be lost
        assert n_requests(slow, "m") <= N + 2 * CONCURRENCY
