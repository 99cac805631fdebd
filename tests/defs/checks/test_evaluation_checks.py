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
N_QUESTIONS = 2 * len(PAIRS)
CONCURRENCY = 4


def response(body):
    """A text that depends on the whole request; for a prompt of the judge, a verdict."""
    text = " ".join(texts(body))
    if "groundtruth" in text:
        return "right" if len(text) % 2 else "wrong"
    return sha256(json.dumps(body["messages"]).encode()).hexdigest()


@pytest.fixture
def server():
    with ChatServer(response) as chat_server:
        yield chat_server


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
    """Build the questions, evaluate the model, and return its predictions and scores."""
    with Workbench(load_settings(home), ["codis"]) as bench:
        bench.build_questions("codis")
        bench.evaluate(["codis"], "m")
        return bench.rows("codis/predictions", "m"), bench.rows("codis/scores", "m")


def n_requests(server, model):
    return sum(body["model"] == model for body in server.bodies)


@pytest.mark.long
def test_a_second_evaluation_repeats_no_request(home, server):
    first_rows = evaluate(home)
    assert (n_requests(server, "m"), n_requests(server, "judge")) == (N_QUESTIONS, N_QUESTIONS)
    server.forget()
    shutil.rmtree(home / "tables")  # they are computed again from stored responses
    assert evaluate(home) == first_rows
    assert server.n_requests == 0


@pytest.mark.long
def test_edited_questions_are_requested_and_judged_again(home, server):
    predictions, _ = evaluate(home)
    server.forget()
    pairs = deepcopy(PAIRS)
    for pair in pairs[:20]:
        pair["context"]["context_1"] += " Today."
    for pair in pairs[20:40]:
        pair["answer"]["answer_2"] = "Downwards."
    write_release(home.parent / "codis", pairs)
    for number in range(40, 50):  # each the image of one pair, of two questions
        (home.parent / "codis" / "images" / f"{number:04d}.png").write_bytes(image(number, 17))

    edited_predictions, _ = evaluate(home)

    # 20 texts and 20 questions about images; the judge also gets 20 edited answers.
    assert (n_requests(server, "m"), n_requests(server, "judge")) == (40, 60)
    changed_ids = {
        edited.question_id
        for original, edited in zip(predictions, edited_predictions, strict=True)
        if original != edited
    }
    edited_texts = {f"codis/{n:03d}/1" for n in range(20)}
    edited_images = {f"codis/{n:03d}/{half}" for n in range(40, 50) for half in (1, 2)}
    assert changed_ids == edited_texts | edited_images


def test_only_failed_requests_are_repeated(tmp_path, server):
    model = f'kind = "server"\nbase_url = "{server.base_url}"\nmax_tries = 1\n'
    (tmp_path / "bench.toml").write_text(
        f'[suites.quiz]\njudge = "judge"\n[models.m]\n{model}model = "m"\n'
        f'[models.judge]\n{model}model = "judge"\n'
    )
    task = replace(TASK, judges={"paper": ByModel(judge_right)})
    definitions = [*evaluation_assets(task), *evaluation_checks(task, "main")]
    tables = TableFiles(folder=str(tmp_path / "tables"))

    def evaluate_quiz():
        assets = [questions_asset(quiz(5)), *definitions]
        return run_for("m", assets, tmp_path, raise_on_error=False)

    server.fail_next(2, Answer(status=400, text="no"))
    checks = evaluate_quiz().get_asset_check_evaluations()
    assert "every_question_answered" in {row.check_name for row in checks if not row.passed}
    assert not tables.exists(["quiz", "metrics"], "m")
    assert (n_requests(server, "m"), n_requests(server, "judge")) == (5, 0)
    server.forget()
    assert evaluate_quiz().success
    assert tables.exists(["quiz", "metrics"], "m")
    assert (n_requests(server, "m"), n_requests(server, "judge")) == (2, 5)
    predictions = tables.read(["quiz", "predictions"], Prediction, "m")
    assert [row.error for row in predictions] == [""] * 5


@pytest.mark.long
def test_a_killed_run_loses_only_the_last_responses_of_its_connections(home, server):
    with ChatServer(response, latency=0.05) as slow:
        toml = (home / "bench.toml").read_text()
        (home / "bench.toml").write_text(toml.replace(server.base_url, slow.base_url))
        bench = str(Path(sys.executable).parent / "bench")
        command = [bench, "evaluate", "codis", "--model", "m"]
        run = subprocess.Popen(command, env={**os.environ, "BENCH_HOME": str(home)})
        while slow.n_requests < N_QUESTIONS // 2 and run.poll() is None:
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)
        run.wait()
        time.sleep(0.1)  # until requests in flight have arrived at the server
        assert N_QUESTIONS // 2 <= slow.n_requests < N_QUESTIONS
        evaluate(home)
        # Each connection may lose the response in flight, and one that was not stored yet, which
        # takes 20 ms.
        assert n_requests(slow, "m") <= N_QUESTIONS + 2 * CONCURRENCY
