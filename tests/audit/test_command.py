import json

import pytest
from typer.testing import CliRunner

from bench_assets.audit.evidence_inputs import TrainingFiles, open_training_data
from bench_assets.audit.framework.evidence import TrainingEntry
from bench_assets.audit.framework.findings import AuditRow
from bench_assets.audit.registry import audit_task
from bench_assets.audit.terminal import print_audit
from bench_assets.cli.main import app
from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import load_settings
from tests.audit.memory_evidence import MemoryEvidence
from tests.fakes.rows import question


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("BENCH_HOME", str(folder))
    return folder


def write_benchmark(home, questions):
    """Write a home with one benchmark, whose questions are in a file."""
    lines = [json.dumps(question) for question in questions]
    (home / "quiz.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (home / "bench.toml").write_text('[benchmarks.quiz]\nfile = "quiz.jsonl"\n')


def question_row(n, key):
    return {
        "id": str(n),
        "question": f"Which of these words is written on sign number {n}?",
        "options": [f"red {n}", f"blue {n}", f"green {n}"],
        "answer": key,
    }


def run_audit(*arguments):
    result = CliRunner().invoke(app, ["audit", "run", *map(str, arguments)])
    assert not result.exception or isinstance(result.exception, SystemExit), result.exception
    return result


def rows_by_check(result):
    return {row["check"]: row for row in map(json.loads, result.stdout.splitlines())}


@pytest.mark.long
def test_a_failed_check_ends_the_command_with_1(home):
    write_benchmark(home, [question_row(n, "A") for n in range(40)])
    result = run_audit("quiz", "--json")
    rows = rows_by_check(result)
    assert result.exit_code == 1, result.output
    assert not rows["one_answer"]["passed"]
    assert rows["one_answer"]["about"][0].startswith("always A")


def test_a_check_that_cannot_be_examined_is_printed_as_failed(capsys):
    row = AuditRow(
        task="t", check="c", question="?", passed=False, sentence="Torn.", n=0, skipped="torn"
    )
    print_audit([row])
    _, line, *_, totals = capsys.readouterr().out.splitlines()
    assert line.split() == ["t", "c", "FAILED", "Torn."]
    assert totals == "1 checks: 1 failed, 0 skipped"


@pytest.mark.long
def test_the_option_training_finds_questions_in_training_texts(home, tmp_path):
    write_benchmark(home, [question_row(n, "ABC"[n * n % 7 % 3]) for n in range(40)])
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"text": question_row(7, "A")["question"]}))
    rows = rows_by_check(run_audit("quiz", "--training", texts, "--json"))
    assert rows["training_texts"]["about"] == ["quiz/7"]


def test_missing_training_data_is_named_with_its_setting(home):
    (home / "bench.toml").write_text('[audit]\ntraining = ["corpus"]\n')
    with pytest.raises(SettingsError, match=r"\[audit\], training: .*corpus does not exist"):
        open_training_data(load_settings(home))


def test_digests_are_read_from_lines_by_their_length(tmp_path):
    hashes = tmp_path / "hashes.txt"
    hashes.write_text(f"{'0a' * 32}  dog.png\n{'0b' * 8}\n")
    files = TrainingFiles([hashes])
    assert list(files.images()) == [TrainingEntry("hashes.txt, line 1", "0a" * 32)]
    assert list(files.image_hashes()) == [TrainingEntry("hashes.txt, line 2", "0b" * 8)]


def test_texts_are_the_strings_in_json_lines_and_the_lines_that_are_no_json(tmp_path):
    texts = tmp_path / "texts.jsonl"
    texts.write_text('{"turns": [{"text": "one"}, "two"]}\nno json\n')
    entries = TrainingFiles([texts]).texts()
    assert [entry.content for entry in entries] == ["one", "two", "no json\n"]


@pytest.mark.parametrize(
    ("name", "json_text"), [("a.json", '["caf\\u00e9"]'), ("a.jsonl", '"caf\\u00e9"\r\n')]
)
def test_texts_behind_a_byte_order_mark_are_read_as_json(tmp_path, name, json_text):
    file = tmp_path / name
    file.write_bytes(b"\xef\xbb\xbf" + json_text.encode())
    assert [entry.content for entry in TrainingFiles([file]).texts()] == ["café"]


@pytest.mark.parametrize(
    ("check", "name"), [("training_images", "a.png"), ("training_texts", "a.json")]
)
def test_training_data_that_was_removed_fails_its_check_and_is_named(tmp_path, check, name):
    query = question(text="What is in the left half of the image?", images=("0a" * 32,))
    evidence = MemoryEvidence(questions=[query], training=TrainingFiles([tmp_path / name]))
    rows = {row.check: row for row in audit_task(evidence)}
    assert (rows[check].passed, rows[check].sentence) == (
        False,
        f"Cannot be examined: {tmp_path / name}: cannot be read: No such file or directory",
    )
