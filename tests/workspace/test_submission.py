"""``bench export blink-submission`` over a test split of all fourteen tasks, answers hidden."""

import json

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from bench_assets.suites.blink.dataset import PERCEPTION_TASKS
from tests.fakes.blink_release import png, row, write_json, write_parquet

pytestmark = pytest.mark.long

RESPONSES = ("(A)", "The answer is (B).", "none of them, I cannot tell")
SUBMITTED = ("(A)", "(B)", "(Z)")  # the authors' mark of a response without an option
COLOURS = ("red", "green", "blue", "white")


def entry(task, split, number):
    """A row of any task, with as many images and options as its release has."""
    letters = "".join(f"\n({letter}) {text}" for letter, text in zip("ABCD", task.options))  # noqa: B905
    shown = {
        f"image_{place + 1}": {"bytes": png(colour, (8 + number, 6 + place)), "path": "1.jpg"}
        for place, colour in enumerate(COLOURS[: task.images])
    }
    idx = f"{split}_{task.name}_{number}"
    return row(
        idx,
        sub_task=task.name,
        question=task.question,
        prompt=f"{task.question} ({idx}){letters}",
        choices=list(task.options),
        answer="hidden" if split == "test" else "(A)",
        **shown,
    )


@pytest.fixture
def home(tmp_path, monkeypatch):
    """BLINK as it is released, half of it as JSON; of every task 1 + 3 rows; responses to all."""
    release, folder = tmp_path / "blink", tmp_path / "home"
    folder.mkdir()
    for place, task in enumerate(PERCEPTION_TASKS.values()):
        write = write_json if place % 2 else write_parquet
        write(release, task.name, "val", [entry(task, "val", 1)])
        write(release, task.name, "test", [entry(task, "test", n) for n in (1, 2, 3)])
    responses = {
        f"blink/test_{name}_{n}": text
        for name in PERCEPTION_TASKS
        for n, text in enumerate(RESPONSES, 1)
    }
    lines = [json.dumps({"question_id": name, "text": text}) for name, text in responses.items()]
    (folder / "said.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (folder / "bench.toml").write_text(
        f'[sources]\nblink = "{release}"\n[models."org/m"]\nkind = "recorded"\n'
        'file = "said.jsonl"\n[models.none]\nkind = "recorded"\nfile = "none.jsonl"\n',
        encoding="utf-8",
    )
    (folder / "none.jsonl").write_text(lines[0], encoding="utf-8")
    monkeypatch.setenv("BENCH_HOME", str(folder))
    return folder


def export(*arguments):
    return CliRunner().invoke(app, ["export", "blink-submission", *map(str, arguments)])


def test_the_file_has_every_question_of_the_test_split_and_no_other(home, tmp_path):
    result = export("--model", "org/m", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    file = tmp_path / "out" / "blink_test_org%2Fm.json"
    assert str(file) in result.stdout
    assert json.loads(file.read_text(encoding="utf-8")) == {
        f"test_{name}_{n}": option
        for name in PERCEPTION_TASKS
        for n, option in enumerate(SUBMITTED, 1)
    }
    hole = export("--model", "none")  # a response that is missing is no "(Z)"
    assert hole.exit_code == 1
    assert not (home / "export" / "blink_test_none.json").exists()
    nobody = export()
    assert nobody.exit_code == 1
    assert "name it with --model" in nobody.stderr
