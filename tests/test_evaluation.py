"""What the assets right of the waist tell about an asking."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench_assets.evaluation import evaluation_assets
from bench_assets.task import ByModel
from tests.chat_server import ChatServer
from tests.quiz import TASK, judge_right, questions_asset, quiz, run_for

SPEEDS = {"replies_a_second", "prompt_tokens_a_second", "completion_tokens_a_second"}


def numbers(home: Path, n: int) -> list[dict[str, float]]:
    assets = evaluation_assets(replace(TASK, judges={"paper": ByModel(judge_right)}))
    result = run_for("m", [questions_asset(quiz(n)), *assets], home)
    found = []
    for table in ("predictions", "judgements"):
        (event,) = result.asset_materializations_for_node(f"quiz__{table}")
        shown = {name: entry.value for name, entry in event.metadata.items()}
        found.append({name: v for name, v in shown.items() if isinstance(v, int | float)})
    return found


def test_predictions_and_judgements_tell_how_fast_they_were_asked(tmp_path: Path) -> None:
    with ChatServer("A B") as server:
        entry = f'kind = "server"\nbase_url = "{server.base_url}"\nmodel = "x"\n'
        (tmp_path / "bench.toml").write_text(
            f'[suites.quiz]\njudge = "j"\n[models.m]\n{entry}[models.j]\n{entry}seed = 1\n'
        )
        numbers(tmp_path, 2)
        for shown in numbers(tmp_path, 5):
            assert (shown["replies_remembered"], shown["replies_asked"]) == (2, 3)
            seconds = shown["asking_seconds"]
            assert shown["replies_a_second"] * seconds == pytest.approx(3)
            assert shown["completion_tokens_a_second"] * seconds == pytest.approx(3 * 3)
            assert "device_memory_mib" not in shown  # a server keeps that to itself
        for shown in numbers(tmp_path, 5):
            assert shown["replies_asked"] == 0
            assert not SPEEDS & set(shown)
