from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.core.schema.errors import ModelError
from bench_assets.core.schema.rows import Metric
from bench_assets.evaluation.task import ByModel
from bench_resources.tables.parquet import TableFiles
from bench_sensors.quick_evaluation import first_questions, quick_evaluation_assets
from tests.fakes.chat_server import Answer, ChatServer
from tests.fakes.quiz import TASK, judge_right, questions_asset, quiz, run_for


@pytest.mark.parametrize(
    ("n", "n_sampled"),
    [
        pytest.param(10, 12, id="whole groups of three, at least as many as asked for"),
        pytest.param(3, 3, id="one group"),
        pytest.param(0, 0, id="none"),
        pytest.param(99, 60, id="all there are"),
    ],
)
def test_whole_groups_are_sampled_in_order(n, n_sampled):
    questions = quiz(60, group=3)
    sampled = first_questions(questions, n)
    assert len(sampled) == n_sampled
    assert sampled == [question for question in questions if question in sampled]
    assert len({question.group_id for question in sampled}) == n_sampled / 3


def configure(home: Path, server: ChatServer) -> None:
    (home / "bench.toml").write_text(
        "[checkpoints]\nfirst = 10\n"
        f'[models.m]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\nmax_tries = 1\n'
    )


def test_the_full_evaluation_requests_only_the_other_questions(tmp_path: Path) -> None:
    with ChatServer("x") as server:
        configure(tmp_path, server)
        table = questions_asset(quiz(100))
        run_for("m", [table, *quick_evaluation_assets([TASK])], tmp_path)
        assert server.n_requests == 10
        (metric, *_) = TableFiles(folder=str(tmp_path / "tables")).read(
            ["quiz", "quick_evaluation"], Metric, "m"
        )
        assert (metric.metric, metric.value, metric.n_scored) == ("accuracy", 1.0, 10)
        run_for("m", [table, *evaluation_assets(TASK)], tmp_path)
        assert server.n_requests == 100


def test_a_failed_request_fails_the_quick_evaluation(tmp_path: Path) -> None:
    with ChatServer("x") as server:
        configure(tmp_path, server)
        server.fail_next(1, Answer(status=400, text="no"))
        with pytest.raises(ModelError, match="1 of 10 questions without a response"):
            run_for("m", [questions_asset(quiz(100)), *quick_evaluation_assets([TASK])], tmp_path)


def test_a_failed_request_to_the_judge_fails_the_quick_evaluation(tmp_path: Path) -> None:
    with ChatServer("x") as server:
        configure(tmp_path, server)
        with (tmp_path / "bench.toml").open("a") as file:
            file.write(
                f'[models.j]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "j"\n'
                'max_tries = 1\n[suites.quiz]\njudge = "j"\n'
            )
        table, quick_evaluation = questions_asset(quiz(100)), quick_evaluation_assets([TASK])
        judged_task = replace(TASK, judges={"paper": ByModel(judge_right)})
        run_for("m", [table, *quick_evaluation], tmp_path)  # now only the judge has requests
        server.fail_next(1, Answer(status=400, text="no"))
        with pytest.raises(ModelError, match="1 of 10 verdicts without a response"):
            run_for("m", [table, *quick_evaluation_assets([judged_task])], tmp_path)
