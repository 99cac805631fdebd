"""What the assets right of the waist tell about an asking."""

import json
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.core.schema.rows import Judgement, Prediction, Question
from bench_assets.evaluation.task import RULES, ByModel, ByRules
from tests.fakes.chat_server import ChatServer
from tests.fakes.quiz import TASK, judge_right, questions_asset, quiz, run_for

SPEEDS = {"responses_a_second", "prompt_tokens_a_second", "completion_tokens_a_second"}


def numbers(home: Path, n: int) -> list[dict[str, float]]:
    assets = evaluation_assets(replace(TASK, judges={"paper": ByModel(judge_right)}))
    result = run_for("m", [questions_asset(quiz(n)), *assets], home)
    found = []
    for table in ("predictions", "judgements"):
        (event,) = result.asset_materializations_for_node(f"quiz__{table}")
        shown = {name: entry.value for name, entry in event.metadata.items()}
        found.append({name: v for name, v in shown.items() if isinstance(v, int | float)})
    return found


def test_predictions_and_judgements_have_their_rate_of_requests(tmp_path: Path) -> None:
    with ChatServer("A B") as server:
        entry = f'kind = "server"\nbase_url = "{server.base_url}"\nmodel = "x"\n'
        (tmp_path / "bench.toml").write_text(
            f'[suites.quiz]\njudge = "j"\n[models.m]\n{entry}[models.j]\n{entry}seed = 1\n'
        )
        numbers(tmp_path, 2)
        for shown in numbers(tmp_path, 5):
            assert (shown["responses_remembered"], shown["responses_asked"]) == (2, 3)
            seconds = shown["asking_seconds"]
            assert shown["responses_a_second"] * seconds == pytest.approx(3)
            assert shown["completion_tokens_a_second"] * seconds == pytest.approx(3 * 3)
            assert "device_memory_mib" not in shown  # a server keeps that to itself
        for shown in numbers(tmp_path, 5):
            assert shown["responses_asked"] == 0
            assert not SPEEDS & set(shown)


JUDGED = replace(TASK, judges={RULES: ByRules(lambda pairs: [_verdict(*one) for one in pairs])})


def _verdict(query: Question, response: Prediction) -> Judgement:
    return Judgement.of(
        response, judge=RULES, criterion="right", verdict=False, response="not that"
    )


def pages(home: Path, model: str) -> dict[str, str]:
    """What a person reads of each table."""
    result = run_for(model, [questions_asset(quiz(2)), *evaluation_assets(JUDGED)], home)
    return {
        f"{table}: {name}": str(entry.value)
        for table in ("predictions", "judgements", "scores", "metrics")
        for event in result.asset_materializations_for_node(f"quiz__{table}")
        for name, entry in event.metadata.items()
        if isinstance(entry, dg.MarkdownMetadataValue)
    }


def test_metrics_have_a_page_for_people(tmp_path: Path) -> None:
    responses = [{"question_id": "quiz/0", "text": "x"}, {"question_id": "quiz/1", "text": "no"}]
    (tmp_path / "said.jsonl").write_text("\n".join(map(json.dumps, responses)))
    (tmp_path / "bench.toml").write_text('[models.m]\nkind = "recorded"\nfile = "said.jsonl"\n')
    shown = pages(tmp_path, "m")
    assert sorted(shown) == ["metrics: results", "metrics: table"]
    assert shown["metrics: results"].startswith("**accuracy 0.500** [0.055, 0.945], n=2")
