import json
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from bench_assets.asset_factory.evaluation_assets import evaluation_assets
from bench_assets.evaluation.task import ByModel
from tests.fakes.chat_server import ChatServer
from tests.fakes.quiz import JUDGED_TASK, TASK, judge_right, questions_asset, quiz, run_for

SPEEDS = {"responses_a_second", "prompt_tokens_a_second", "completion_tokens_a_second"}


def numeric_metadata(result: dg.ExecuteInProcessResult, table: str) -> dict[str, float]:
    (event,) = result.asset_materializations_for_node(f"quiz__{table}")
    values = {name: entry.value for name, entry in event.metadata.items()}
    return {name: value for name, value in values.items() if isinstance(value, int | float)}


@pytest.mark.parametrize("table", ["predictions", "judgements"])
def test_a_table_of_requests_has_their_number_and_rate(tmp_path: Path, table: str) -> None:
    assets = evaluation_assets(replace(TASK, judges={"paper": ByModel(judge_right)}))
    with ChatServer("A B") as server:
        section = f'kind = "server"\nbase_url = "{server.base_url}"\nmodel = "x"\n'
        (tmp_path / "bench.toml").write_text(
            f'[suites.quiz]\njudge = "j"\n[models.m]\n{section}[models.j]\n{section}seed = 1\n'
        )
        run_for("m", [questions_asset(quiz(2)), *assets], tmp_path)
        extended, repeated = (
            numeric_metadata(run_for("m", [questions_asset(quiz(5)), *assets], tmp_path), table)
            for _ in range(2)
        )
    assert (extended["responses_remembered"], extended["responses_asked"]) == (2, 3)
    seconds = extended["asking_seconds"]
    assert extended["responses_a_second"] * seconds == pytest.approx(3)
    # Each of the three new responses has three tokens.
    assert extended["completion_tokens_a_second"] * seconds == pytest.approx(9)
    assert "device_memory_mib" not in extended  # a server does not tell it
    assert repeated["responses_asked"] == 0
    assert not SPEEDS & set(repeated)


def markdown_metadata(home: Path) -> dict[str, str]:
    """Markdown in the metadata of the tables of an evaluation, by table and name."""
    result = run_for("m", [questions_asset(quiz(2)), *evaluation_assets(JUDGED_TASK)], home)
    events = result.get_asset_materialization_events()
    materializations = [event.materialization for event in events]
    return {
        f"{materialization.asset_key.path[-1]}: {name}": str(entry.value)
        for materialization in materializations
        for name, entry in materialization.metadata.items()
        if isinstance(entry, dg.MarkdownMetadataValue)
        and materialization.asset_key.path[-1] != "questions"
    }


def test_only_metrics_have_pages_in_markdown(tmp_path: Path) -> None:
    responses = [{"question_id": "quiz/0", "text": "x"}, {"question_id": "quiz/1", "text": "no"}]
    (tmp_path / "responses.jsonl").write_text("\n".join(map(json.dumps, responses)))
    (tmp_path / "bench.toml").write_text(
        '[models.m]\nkind = "recorded"\nfile = "responses.jsonl"\n'
    )
    pages = markdown_metadata(tmp_path)
    assert sorted(pages) == ["metrics: results", "metrics: table"]
    assert pages["metrics: results"].startswith("**accuracy 0.500** [")
