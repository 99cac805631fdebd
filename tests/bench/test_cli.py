"""The command line, used as a person would, rightly and wrongly."""

import json
import runpy
import shutil
import struct
import sys
import zlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench_assets.bench.cli import app
from tests.suites.codis.raw import entry


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def source(evaluated, tmp_path):
    return shutil.copytree(evaluated / "codis", tmp_path / "codis")


@pytest.fixture
def used_home(evaluated, tmp_path, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(tmp_path / "home"))
    return shutil.copytree(evaluated / "home", tmp_path / "home")


def bench(*arguments, fails=False):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert (result.exit_code != 0) == fails, result.output
    return result


def lines(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def write_replies(file, replies):
    file.write_text("\n".join(json.dumps(reply) for reply in replies))
    return file


def answers(*texts, **fields):
    names = ("000/1", "000/2", "001/1", "001/2")
    return [
        {"question_id": f"codis/{name}", "text": text, **fields}
        for name, text in zip(names, texts, strict=False)
    ]


def test_the_package_itself_is_the_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("bench_assets", run_name="__main__")
    assert ended.value.code == 0
    assert "leaderboard" in capsys.readouterr().out


def test_questions_are_printed_as_json_lines(home, source):
    rows = lines(bench("questions", "codis", "--source", source, "--json"))
    assert [row["question_id"] for row in rows] == [
        f"codis/{name}" for name in ("000/1", "000/2", "001/1", "001/2")
    ]
    assert {row["edition"] for row in rows} == {"own"}
    assert not (home / "tables").exists()


def test_replies_made_elsewhere_are_scored_and_what_does_not_fit_is_reported(used_home, evaluated):
    a, b = entry()["answer"].values()
    file, source = used_home / "somebody.jsonl", evaluated / "codis"
    write_replies(
        file,
        [
            *answers(a, b, a),
            {"question_id": "codis/777/1", "text": a},
        ],
    )
    result = bench("score", "codis", file, "--source", source, "--json")
    acc_p, acc_q, *_ = lines(result)
    assert (acc_p["metric"], acc_p["value"], acc_p["n_scored"], acc_p["n_unscored"]) == (
        ("acc_p", 1.0, 1, 1)
    )
    assert (acc_q["value"], acc_q["n_scored"], acc_q["n_failed"]) == (1.0, 3, 1)
    assert {row["model"] for row in lines(result)} == {"somebody"}
    assert "1 of 4 questions have no reply, such as codis/001/2" in result.stderr
    assert "1 replies to unknown questions left out, such as codis/777/1" in result.stderr


def test_replies_of_which_none_is_used_are_an_error_that_names_one(used_home):
    file = write_replies(used_home / "other.jsonl", [{"question_id": "codis/777/1", "text": "up"}])
    result = bench("score", "codis", file, fails=True)
    assert "no reply answers a question of codis" in result.stderr
    assert "other.jsonl" in result.stderr
    assert "such as 'codis/777/1' (line 1)" in result.stderr


def test_a_condition_without_questions_says_what_it_needs(used_home):
    asked = ("evaluate", "codis", "--model", "random", "--condition", "captions_for_images")
    result = bench(*asked, fails=True)
    (said,) = [line for line in result.stderr.splitlines() if "captions" in line]
    assert "codis, condition captions_for_images: there is no question to ask" in said
    assert "put captions.jsonl beside data.json" in said


@pytest.mark.parametrize(
    ("reading", "acc_q", "n_scored"),
    [
        pytest.param("strict", 0.5, 2, id="strict: right, wrong, and two that say neither"),
        pytest.param("official", 0.5, 4, id="official: a substring", marks=pytest.mark.long),
    ],
)
def test_a_recorded_judge_is_read_as_told(used_home, reading, acc_q, n_scored):
    replies = answers("w", "x", "y", "z")
    for reply, word in zip(replies, ["right", "wrong", "not right", "Right, I think"], strict=True):
        reply["judge_reply"] = word
    file = write_replies(used_home / "r.jsonl", replies)
    command = ("score", "codis", file, "--judge", "recorded")
    rows = lines(bench(*command, "--reading", reading, "--json"))
    assert (rows[1]["value"], rows[1]["n_scored"]) == (acc_q, n_scored)


def test_one_question_is_followed_through_the_tables(evaluated, monkeypatch):
    monkeypatch.setenv("BENCH_HOME", str(evaluated / "home"))
    source = evaluated / "codis"
    steps = lines(bench("trace", "codis/001/2", "--model", "random", "--source", source))
    assert [step["table"] for step in steps] == [
        "codis/questions",
        "prompts",
        "codis/predictions",
        "codis/judgements",
        "codis/scores",
    ]
    assert steps[1]["sha256"] == steps[2]["prompt_sha256"]


def huge_png():
    def chunk(name, data):
        checksum = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + checksum

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000)))


def break_nothing(folder):
    pass


def break_data(text):
    return lambda folder: (folder / "data.json").write_text(text)


def break_picture(data):
    return lambda folder: (folder / "images" / "b.png").write_bytes(data)


@pytest.mark.parametrize(
    ("break_it", "model", "named"),
    [
        pytest.param(
            lambda folder: (folder / "data.json").unlink(),
            "random",
            ["no CODIS data"],
            id="no data",
            marks=pytest.mark.long,
        ),
        pytest.param(
            break_data('[{"id": "0'),
            "random",
            ["data.json", "cut short"],
            id="truncated",
        ),
        pytest.param(
            break_data(json.dumps([entry(image_id="../../b.png")])),
            "random",
            ["data.json", "../../b.png", "leaves the folder"],
            id="a path out of the folder",
            marks=pytest.mark.long,
        ),
        pytest.param(
            break_picture(b"text"),
            "random",
            ["b.png", "not a picture"],
            id="text",
            marks=pytest.mark.long,
        ),
        pytest.param(
            break_picture(huge_png()),
            "random",
            ["b.png", "px allowed"],
            id="50,000 px",
            marks=pytest.mark.long,
        ),
        pytest.param(break_nothing, "nobody", ["nobody", "smollm2"], id="no such model"),
        pytest.param(
            break_nothing,
            "down",
            ["127.0.0.1:9", "cannot be reached"],
            id="server down",
            marks=pytest.mark.long,
        ),
    ],
)
def test_bad_input_ends_in_one_message_and_leaves_tables_alone(
    used_home, source, break_it, model, named
):
    (used_home / "bench.toml").write_text(
        '[models.down]\nkind = "server"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
        "max_tries = 1\n"
    )
    before = {file: file.read_bytes() for file in tables(used_home)}
    break_it(source)
    result = bench("evaluate", "codis", "--model", model, "--source", source, fails=True)
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr
    assert [name for name in named if name not in result.stderr] == [], result.stderr
    kept = ("questions", "predictions", "scores", "metrics", "leaderboard")
    after = {file: file.read_bytes() for file in tables(used_home)}
    assert {f for f in before if f.parent.name in kept and after[f] != before[f]} == set()


def tables(home) -> list[Path]:
    return sorted((home / "tables").rglob("*.parquet"))


@pytest.mark.parametrize(
    ("toml", "named"),
    [
        pytest.param("[models.x\n", ["bench.toml", "not a TOML file"], id="no TOML"),
        pytest.param('[models.x]\nkind = "llama"\n', ["bench.toml", "models.x"], id="unknown kind"),
        pytest.param('[models.x]\nkind = "random"\nsed = 1\n', ["models.x", "sed"], id="a typo"),
        pytest.param("[model]\n", ["bench.toml", "model"], id="unknown table"),
        pytest.param('[sources]\ncods = "x"\n', ["bench.toml", "cods"], id="unknown suite"),
    ],
)
def test_a_mistake_in_the_settings_is_named(home, toml, named):
    (home / "bench.toml").write_text(toml)
    result = bench("leaderboard", fails=True)
    assert [name for name in named if name not in result.stderr] == [], result.stderr


def test_unknown_suites_and_readings_are_named(home, source):
    assert "known: blink, codis" in bench("questions", "cods", fails=True).stderr
    file = write_replies(home / "r.jsonl", answers("a", "b"))
    command = ("score", "codis", file, "--source", source, "--reading", "kind")
    assert "official" in bench(*command, fails=True).stderr
    write_replies(file, answers("a", "b", condition="blindfolded"))
    assert "no_context" in bench("score", "codis", file, "--source", source, fails=True).stderr
