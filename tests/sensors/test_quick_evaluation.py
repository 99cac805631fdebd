"""The quick evaluation asks a few questions, and what it asked is not asked again."""

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
    ("n", "drawn"),
    [
        pytest.param(10, 12, id="whole groups of three, at least as many as asked for"),
        pytest.param(3, 3, id="one group"),
        pytest.param(0, 0, id="none"),
        pytest.param(99, 60, id="all there are"),
    ],
)
def test_groups_stay_whole_and_in_order(n, drawn):
    questions = quiz(60, group=3)
    few = first_questions(questions, n)
    assert len(few) == drawn
    assert few == [question for question in questions if question in few]
    assert len({question.group_id for question in few}) == drawn / 3


def configure(home: Path, server: ChatServer) -> None:
    (home / "bench.toml").write_text(
        "[checkpoints]\nfirst = 10\n"
        f'[models.m]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "m"\nmax_tries = 1\n'
    )


def test_the_whole_evaluation_asks_only_the_rest(tmp_path: Path) -> None:
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


def test_a_failed_request_fails_the_quick_evaluation_so_that_nothing_follows(
    tmp_path: Path,
) -> None:
    with ChatServer("x") as server:
        configure(tmp_path, server)
        server.fail_next(1, Answer(status=400, text="no"))
        with pytest.raises(ModelError, match="1 of 10 questions without a response"):
            run_for("m", [questions_asset(quiz(100)), *quick_evaluation_assets([TASK])], tmp_path)


def test_a_judge_without_a_response_fails_the_quick_evaluation_as_well(tmp_path: Path) -> None:
    with ChatServer("x") as server:
        configure(tmp_path, server)
        with (tmp_path / "bench.toml").open("a") as file:
            file.write(
                f'[models.j]\nkind = "server"\nbase_url = "{server.base_url}"\nmodel = "j"\n'
                'max_tries = 1\n[suites.quiz]\njudge = "j"\n'
            )
        table, looks = questions_asset(quiz(100)), quick_evaluation_assets([TASK])
        judging = replace(TASK, judges={"paper": ByModel(judge_right)})
        run_for("m", [table, *looks], tmp_path)  # so that only the judge is left to be asked
        server.fail_next(1, Answer(status=400, text="no"))
        with pytest.raises(ModelError, match="1 of 10 verdicts without a response"):
            run_for("m", [table, *quick_evaluation_assets([judging])], tmp_path)
