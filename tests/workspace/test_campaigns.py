"""`bench annotate`: asking, how far it is, how well, files for another tool; in one small home."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.cli.main import app
from tests.suites.codis.raw import entry, write_raw

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
    asked = home / "annotation" / FORM
    with (asked / "answers.jsonl").open("w") as file:
        for name, comment in zip(people, ("=1+1", "", "fine"), strict=True):
            said = {"unit": f"s-{name}", "person": "bo", "values": {**YES, "comment": comment}}
            file.write(json.dumps(said) + "\n")
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


def test_a_form_that_is_asked_is_marked_among_all() -> None:
    asked = {row["task"]: row["asked"] for row in rows("annotate", "tasks")}
    assert asked[FORM]
    assert [name for name, is_asked in asked.items() if is_asked] == [FORM]
    assert len(asked) > 20


def test_status_counts_what_counts() -> None:
    (row,) = rows("annotate", "status")
    told = {name: row[name] for name in ("units", "done", "in_work", "untouched", "answers")}
    assert told == {"units": 3, "done": 0, "in_work": 2, "untouched": 1, "answers": 2}
    assert (row["refused"], row["lacking"], row["annotators"]) == (1, 4, ["bo"])


def test_quality_and_queue_name_people_and_items() -> None:
    (row,) = rows("annotate", "quality", FORM)
    assert (row["person"], row["n_answers"], row["n_refused"]) == ("bo", 2, 1)
    lacking = {row["unit_id"]: row["lacking"] for row in rows("annotate", "queue", FORM)}
    assert lacking == {"s-ana": 1, "s-bo": 2, "s-cem": 1}


def test_export_is_read_by_others_and_run_by_no_spreadsheet(tmp_path: Path) -> None:
    bench("annotate", "export", FORM, str(tmp_path / "out"))
    with (tmp_path / "out" / "answers.csv").open(newline="") as file:
        said = {line["unit_id"]: line["comment"] for line in csv.DictReader(file)}
    assert said == {"s-ana": "'=1+1", "s-cem": "fine"}
    lines = (tmp_path / "out" / "units.jsonl").read_text().splitlines()
    (digest,) = {json.loads(line)["images"]["Image"] for line in lines}
    assert (tmp_path / "out" / "images" / digest).is_file()
    assert all("gold" not in json.loads(line) for line in lines)
    assert "not empty" in bench("annotate", "export", FORM, str(tmp_path / "out"), status=1)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ("codis/vote", "did you mean 'codis/votes'?"),
        ("codis/revisions", 'Add a section [annotation.tasks."codis/revisions"]'),
    ],
)
def test_what_is_not_asked_says_what_to_write(task: str, said: str) -> None:
    assert said in " ".join(bench("annotate", "status", task, status=1).split())
