"""`bench annotate`: asking, how far it is, how well, files for another tool; in one small home."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from tests.fakes.codis_source import entry, write_raw

FORM = "codis/votes"
YES = {"correct": "yes", "different": "yes", "within_rules": "yes"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three submissions; bo has voted on two of them, and on one as nobody may."""
    folder = tmp_path_factory.mktemp("campaign")
    people = ("ana", "bo", "cem")
    entries = [
        entry(id=f"s-{name}", annotator=name, revises=None, question=f"{name}: open or shut?")
        for name in people
    ]
    write_raw(folder / "codis", entries, [])
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text(
        f'[sources]\ncodis = "{folder / "codis"}"\n[annotation.tasks."{FORM}"]\n', encoding="utf-8"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(home))
        bench("annotate", "ask")
    form_folder = home / "annotation" / FORM
    with (form_folder / "answers.jsonl").open("w") as file:
        for name, comment in zip(people, ("=1+1", "", "fine"), strict=True):
            row = {"unit": f"s-{name}", "person": "bo", "values": {**YES, "comment": comment}}
            file.write(json.dumps(row) + "\n")
    return home


@pytest.fixture(autouse=True)
def _at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_HOME", str(home))


def bench(*arguments: str, status: int = 0) -> str:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == status, f"{done.output}\n{done.exception!r}"
    return done.output


def rows(*arguments: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in bench(*arguments, "--json").splitlines()]


def test_a_configured_form_is_marked_among_all() -> None:
    tasks = {row["task"]: row["asked"] for row in rows("annotate", "tasks")}
    assert tasks[FORM]
    assert [name for name, is_open in tasks.items() if is_open] == [FORM]
    assert len(tasks) > 20


def test_status_quality_and_queue_count_what_counts() -> None:
    (row,) = rows("annotate", "status")
    counts = {name: row[name] for name in ("units", "done", "in_work", "untouched", "answers")}
    assert counts == {"units": 3, "done": 0, "in_work": 2, "untouched": 1, "answers": 2}
    assert (row["refused"], row["lacking"], row["annotators"]) == (1, 4, ["bo"])
    (row,) = rows("annotate", "quality", FORM)
    assert (row["person"], row["n_answers"], row["n_refused"]) == ("bo", 2, 1)
    lacking = {row["unit_id"]: row["lacking"] for row in rows("annotate", "queue", FORM)}
    assert lacking == {"s-ana": 1, "s-bo": 2, "s-cem": 1}


def _annotated(tasks: list[dict[str, Any]], *, chosen: str) -> list[dict[str, Any]]:
    """What Label Studio exports after ana answered all questions with one choice."""
    names = [name.removeprefix("choices_") for name in tasks[0]["data"] if "choices_" in name]
    result = [
        {"from_name": name, "to_name": "unit", "type": "choices", "value": {"choices": [chosen]}}
        for name in names
    ]
    author = {"id": 5, "email": "ana@lab.example"}
    annotation = {"completed_by": author, "created_at": "2026-11-29T17:00:00Z", "result": result}
    return [
        {"id": number, "data": task["data"], "annotations": [annotation]}
        for number, task in enumerate(tasks, 1)
    ]


def test_what_label_studio_collected_is_imported_once(tmp_path: Path) -> None:
    output = bench("annotate", "export", FORM, str(tmp_path / "out"))
    config, tasks = (Path(line) for line in output.splitlines())
    assert "not empty" in bench("annotate", "export", FORM, str(tmp_path / "out"), status=1)
    assert '<Choices name="correct"' in config.read_text()
    entries = json.loads(tasks.read_text())
    assert {entry["data"]["key"] for entry in entries} == {"s-ana", "s-bo", "s-cem"}
    assert entries[0]["data"]["images"][0]["url"].startswith("data:image/")
    file = tmp_path / "export.json"
    entries = [entry for entry in entries if entry["data"]["key"] != "s-ana"]
    file.write_text(json.dumps(_annotated(entries, chosen="yes")))
    assert "2 answers imported, 0 were" in bench("annotate", "import", FORM, str(file))
    assert "0 answers imported, 2 were" in bench("annotate", "import", FORM, str(file))
    (row,) = rows("annotate", "status")
    assert (row["answers"], row["annotators"]) == (4, ["bo", "user-5"])


def test_a_bad_entry_is_named_and_the_others_are_imported(tmp_path: Path) -> None:
    bench("annotate", "export", FORM, str(tmp_path / "out"))
    entries = json.loads((tmp_path / "out" / "tasks.json").read_text())
    good, bad, strange = _annotated(entries, chosen="no")
    bad["annotations"][0] = {**bad["annotations"][0], "completed_by": None}
    strange["data"]["key"] = "s-nobody"
    (tmp_path / "export.json").write_text(json.dumps([bad, good, strange]))
    output = " ".join(
        bench("annotate", "import", FORM, str(tmp_path / "export.json"), status=1).split()
    )
    assert "2 annotations cannot be used; the other 1 are imported, 1 of them new" in output
    assert "export.json, entry 1 (id 2), annotation 1: not an answer: its author is None" in output
    assert "export.json, entry 3 (id 3), annotation 1: unit 's-nobody' is not published" in output
    (row,) = [one for one in rows("annotate", "quality", FORM) if one["person"] == "user-5"]
    assert row["n_answers"]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        ("codis/vote", "did you mean 'codis/votes'?"),
        ("codis/revisions", 'Add a section [annotation.tasks."codis/revisions"]'),
    ],
)
def test_a_form_that_is_not_configured_says_what_to_write(task: str, message: str) -> None:
    assert message in " ".join(bench("annotate", "status", task, status=1).split())
