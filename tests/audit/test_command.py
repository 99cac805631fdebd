"""``bench audit run`` over a home: what it prints, and how it ends."""

import json

import pytest
from typer.testing import CliRunner

from bench_assets.audit.evidence_inputs import TrainingFiles, open_training_data
from bench_assets.audit.registry import audit_task
from bench_assets.cli.main import app
from bench_resources.config.bench_toml import load_settings
from tests.audit.held import Held
from tests.fakes.rows import question


@pytest.fixture
def home(tmp_path, monkeypatch):
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("BENCH_HOME", str(folder))
    return folder


def plain(home, questions):
    """A home with one benchmark of a file."""
    lines = [json.dumps(one) for one in questions]
    (home / "quiz.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (home / "bench.toml").write_text('[benchmarks.quiz]\nfile = "quiz.jsonl"\n')


def question_row(n, key):
    return {
        "id": str(n),
        "question": f"Which of these words is written on sign number {n}?",
        "options": [f"red {n}", f"blue {n}", f"green {n}"],
        "answer": key,
    }


def audit(*arguments):
    result = CliRunner().invoke(app, ["audit", "run", *map(str, arguments)])
    assert not result.exception or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.mark.long
def test_an_examination_that_fails_ends_the_command_with_1(home):
    plain(home, [question_row(n, "A") for n in range(40)])
    result = audit("quiz", "--json")
    rows = {row["check"]: row for row in map(json.loads, result.stdout.splitlines())}
    assert result.exit_code == 1, result.output
    assert not rows["one_answer"]["passed"]
    assert rows["one_answer"]["about"][0].startswith("always A")
    assert rows["training_texts"]["skipped"]
    assert "always A" in audit("quiz").stdout


@pytest.mark.long
def test_what_models_were_trained_on_is_named_by_an_option(home, tmp_path):
    plain(home, [question_row(n, "ABC"[n * n % 7 % 3]) for n in range(40)])
    texts = tmp_path / "texts.jsonl"
    texts.write_text(json.dumps({"text": question_row(7, "A")["question"]}))
    result = audit("quiz", "--training", texts, "--json")
    (row,) = [
        row
        for row in map(json.loads, result.stdout.splitlines())
        if row["check"] == "training_texts"
    ]
    assert row["about"] == ["quiz/7"]


def test_what_is_named_and_not_there_is_an_error_that_names_it(home):
    (home / "bench.toml").write_text('[audit]\ntraining = ["corpus"]\n')
    with pytest.raises(Exception, match=r"\[audit\], training: .*corpus does not exist"):
        open_training_data(load_settings(home))


def test_digests_and_texts_are_read_from_files(tmp_path):
    hashes, texts = tmp_path / "hashes.txt", tmp_path / "texts.jsonl"
    hashes.write_text(f"{'0a' * 32}  dog.png\n{'0b' * 8}\n")
    texts.write_text('{"turns": [{"text": "one"}, "two"]}\nno json\n')
    files = TrainingFiles([hashes, texts])
    assert [(one.name, one.content) for one in files.images()] == [
        ("hashes.txt, line 1", "0a" * 32)
    ]
    assert [one.content for one in files.image_hashes()] == ["0b" * 8]
    assert [one.content for one in files.texts()][2:] == ["one", "two", "no json\n"]


@pytest.mark.parametrize(
    ("name", "written"), [("a.json", '["caf\\u00e9"]'), ("a.jsonl", '"caf\\u00e9"\r\n')]
)
def test_texts_behind_a_byte_order_mark_are_read_as_json(tmp_path, name, written):
    file = tmp_path / name
    file.write_bytes(b"\xef\xbb\xbf" + written.encode())
    assert [one.content for one in TrainingFiles([file]).texts()] == ["café"]


@pytest.mark.parametrize(
    ("check", "name"), [("training_images", "a.png"), ("training_texts", "a.json")]
)
def test_training_data_that_was_removed_since_fails_its_check_by_name(tmp_path, check, name):
    query = question(text="What is in the left half of the image?", images=("0a" * 32,))
    found = Held(questions=[query], training=TrainingFiles([tmp_path / name]))
    (row,) = [one for one in audit_task(found) if one.check == check]
    assert (row.passed, row.sentence) == (
        False,
        f"Cannot be examined: {tmp_path / name}: cannot be read: No such file or directory",
    )
