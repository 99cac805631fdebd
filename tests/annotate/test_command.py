import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.codis_source import entry, write_raw
from tests.fakes.commands import bench, lines

FORM = "codis/votes"
YES = {"correct": "yes", "different": "yes", "within_rules": "yes"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with three submissions and bo's votes on all, of which that on his own is refused."""
    folder = tmp_path_factory.mktemp("campaign")
    people = ("ana", "bo", "cem")
    submissions = [
        entry(id=f"s-{name}", annotator=name, revises=None, question=f"{name}: open or shut?")
        for name in people
    ]
    write_raw(folder / "codis", submissions, [])
    home = folder / "home"
    home.mkdir()
    (home / "bench.toml").write_text(
        f'[sources]\ncodis = "{folder / "codis"}"\n[annotation.tasks."{FORM}"]\n', encoding="utf-8"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCH_HOME", str(home))
        bench("annotate", "ask")
    with (home / "annotation" / FORM / "answers.jsonl").open("w") as file:
        for name, comment in zip(people, ("=1+1", "", "fine"), strict=True):
            row = {"unit": f"s-{name}", "person": "bo", "values": {**YES, "comment": comment}}
            file.write(json.dumps(row) + "\n")
    return home


@pytest.fixture(autouse=True)
def _at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_HOME", str(home))


def json_rows(*arguments: str) -> list[dict[str, object]]:
    return lines(bench(*arguments, "--json"))


def test_only_the_configured_form_is_marked_as_asked() -> None:
    tasks = {row["task"]: row["asked"] for row in json_rows("annotate", "tasks")}
    assert [name for name, is_asked in tasks.items() if is_asked] == [FORM]
    assert len(tasks) > 20


def test_status_counts_valid_answers_and_open_units() -> None:
    (row,) = json_rows("annotate", "status")
    counts = {name: row[name] for name in ("units", "done", "in_work", "untouched", "answers")}
    assert counts == {"units": 3, "done": 0, "in_work": 2, "untouched": 1, "answers": 2}
    # Each of the three units needs two answers: 3 x 2 - 2 are lacking.
    assert (row["refused"], row["lacking"], row["annotators"]) == (1, 4, ["bo"])


def test_quality_counts_valid_and_refused_answers() -> None:
    (row,) = json_rows("annotate", "quality", FORM)
    assert (row["person"], row["n_answers"], row["n_refused"]) == ("bo", 2, 1)


def test_the_queue_lists_units_by_missing_answers() -> None:
    lacking = {row["unit_id"]: row["lacking"] for row in json_rows("annotate", "queue", FORM)}
    assert lacking == {"s-ana": 1, "s-bo": 2, "s-cem": 1}


def label_studio_export(tasks: list[dict[str, Any]], *, chosen: str) -> list[dict[str, Any]]:
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


def test_an_export_for_label_studio_has_every_unit_with_its_images(tmp_path: Path) -> None:
    output = bench("annotate", "export", FORM, tmp_path / "out").output
    config_file, tasks_file = (Path(line) for line in output.splitlines())
    assert '<Choices name="correct"' in config_file.read_text()
    tasks = json.loads(tasks_file.read_text())
    assert {task["data"]["key"] for task in tasks} == {"s-ana", "s-bo", "s-cem"}
    assert tasks[0]["data"]["images"][0]["url"].startswith("data:image/")
    for place in (tmp_path / "out", tasks_file):
        assert "not empty" in bench("annotate", "export", FORM, place, code=1).output


def test_answers_of_label_studio_are_imported_once(tmp_path: Path) -> None:
    bench("annotate", "export", FORM, tmp_path / "out")
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    not_by_ana = [task for task in tasks if task["data"]["key"] != "s-ana"]
    file = tmp_path / "export.json"
    file.write_text(json.dumps(label_studio_export(not_by_ana, chosen="yes")))
    assert "imported: 2; there before: 0" in bench("annotate", "import", FORM, file).output
    assert "imported: 0; there before: 2" in bench("annotate", "import", FORM, file).output
    (row,) = json_rows("annotate", "status")
    assert (row["answers"], row["annotators"]) == (4, ["bo", "user-5"])


def test_an_unusable_entry_is_named_and_the_others_are_imported(tmp_path: Path) -> None:
    bench("annotate", "export", FORM, tmp_path / "out")
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    good, without_author, of_unknown_unit = label_studio_export(tasks, chosen="no")
    without_author["annotations"][0] = {**without_author["annotations"][0], "completed_by": None}
    of_unknown_unit["data"]["key"] = "s-nobody"
    file = tmp_path / "export.json"
    file.write_text(json.dumps([without_author, good, of_unknown_unit]))

    output = " ".join(bench("annotate", "import", FORM, file, code=1).output.split())

    assert "2 of 3 annotations cannot be used; the others are imported, 1 of them new" in output
    assert "export.json, entry 1 (id 2), annotation 1: not an answer: its author is None" in output
    assert "export.json, entry 3 (id 3), annotation 1: unit 's-nobody' is not published" in output
    people = [row["person"] for row in json_rows("annotate", "quality", FORM)]
    assert "user-5" in people


@pytest.mark.parametrize(
    ("task", "expected_message"),
    [
        ("codis/vote", "did you mean 'codis/votes'?"),
        ("codis/revisions", 'Add a section [annotation.tasks."codis/revisions"]'),
    ],
)
def test_the_error_of_a_form_that_is_not_configured_says_what_to_write(task, expected_message):
    assert expected_message in " ".join(bench("annotate", "status", task, code=1).output.split())
