"""Benchmarks from files alone: at most eight lines of TOML each, and numbers by pencil.

The fourteen known ones are held to their authors' rules: ``tests/resources/config``.
"""

import io
import json
from hashlib import sha256
from textwrap import dedent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import SettingsError
from bench_assets.core.schema.rows import StoredImage
from bench_assets.evaluation import pipeline
from bench_assets.file_benchmarks.questions import benchmark_location, build
from bench_assets.file_benchmarks.suite import file_benchmark_suites
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.known_benchmarks import add_known
from bench_resources.models.registry.baselines import ScriptedModel
from tests.fakes.rows import prediction


def png(width=64, height=48):
    data = io.BytesIO()
    Image.new("RGB", (width, height), (width, 0, 0)).save(data, "PNG")
    return {"bytes": data.getvalue(), "path": None}


def stored(image, name):
    data = image if isinstance(image, bytes) else image.read_bytes()
    with Image.open(io.BytesIO(data)) as opened:
        width, height = opened.size
    return StoredImage(
        name=name,
        sha256=sha256(data).hexdigest(),
        format="PNG",
        width=width,
        height=height,
        n_bytes=len(data),
    )


def written(folder, section, rows):
    """A home with one benchmark in a Parquet file, or in JSON lines."""
    section = dedent(section).strip()
    assert len(section.split("\n")) <= 8
    (folder / "bench.toml").write_text(section)
    if "rows.parquet" in section:
        pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    else:
        (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))


def opened(folder):
    settings = load_settings(folder)
    ((name, benchmark),) = settings.benchmarks.items()
    task = file_benchmark_suites(settings)[0][1].tasks[0]
    place = benchmark_location(name, settings.resolve(benchmark.file), settings)
    return task, build(benchmark, place, stored)


def numbers(folder, responses, judge=None):
    """Every metric over all questions, from responses in the order of the questions."""
    task, built = opened(folder)
    assert not built.rejections
    questions = built.questions
    predictions = [
        prediction(question_id=q.question_id, text=text)
        for q, text in zip(questions, responses, strict=True)
    ]
    verdicts = pipeline.judge(task, questions, predictions, judge) if task.is_judged else []
    scores = pipeline.score(task, questions, predictions, verdicts)
    rows = pipeline.summarise(task, questions, predictions, scores)
    values = {row.metric: row for row in rows if row.category == "all"}
    for row in values.values():
        assert row.low <= row.value <= row.high
    return {name: row.value for name, row in values.items()}


def near(**values):
    return pytest.approx(values, abs=1e-9)


def test_refcoco(tmp_path):
    """One question each of a list; IoU 1, 1/2 and none: mean 1/2, two of three at 0.5."""
    section = """
        [benchmarks.refcoco]
        file = "rows.parquet"
        columns = { id = "question_id", question = "answer", answer = "bbox" }
        ignore = ["file_name"]
        answer_type = "box"
        coordinates = "xywh pixels"
    """
    rows = [
        {"question_id": "1", "image": png(), "question": "Describe.", "answer": ["cat", "left cat"]}
        | {"bbox": [10.0, 10.0, 20.0, 10.0], "file_name": "COCO_1.jpg"},
        {"question_id": "2", "image": png(), "question": "Describe.", "answer": ["dog"]}
        | {"bbox": [0.0, 0.0, 10.0, 10.0], "file_name": "COCO_2.jpg"},
    ]
    written(tmp_path, section, rows)
    responses = ["[10, 10, 30, 20]", "[10, 10, 20, 20]", "[40, 40, 60, 48]"]
    assert numbers(tmp_path, responses) == near(mean_iou=0.5, accuracy_at_50=2 / 3)
    _, built = opened(tmp_path)
    assert [question.question_id for question in built.questions] == [
        *("refcoco/1/1", "refcoco/1/2", "refcoco/2/1")
    ]


def test_a_graded_set_on_another_scale(tmp_path):
    """Grades 5, 3 and "I cannot" of 1 to 5: 1, 0.5 and unscored; 0.75 over two."""
    section = """
        [benchmarks.open]
        file = "rows.jsonl"
        answer_type = "graded"
        scale = "1..5"
    """
    written(tmp_path, section, [{"question": f"Why {n}?", "answer": "so"} for n in range(3)])
    grades = {"a": "5", "b": "3", "c": "I cannot"}

    def graded(request):
        return next(
            grades[name]
            for name in grades
            if f"Reply: {name}\n" in str(request.prompt.turns[0].parts[0])
        )

    assert numbers(tmp_path, list(grades), ScriptedModel("j", graded)) == near(mean_grade=0.75)


def test_further_groups_and_arithmetic_in_templates(tmp_path):
    """Pairs 0 and 1 by index // 2: one right; figures a and b: none, since each has a wrong one."""
    section = """
        [benchmarks.pairs]
        file = "rows.jsonl"
        columns = { group = "pair {index // 2}" }
        metric = "group_accuracy"
        answer_type = "yes_no"
        groups = { f_acc = ["figure"] }
    """
    rows = [
        {"index": n, "question": f"Is it {n}?", "answer": 1, "figure": "ab"[n % 2]}
        for n in range(4)
    ]
    written(tmp_path, section, rows)
    figures = numbers(tmp_path, ["Yes", "Yes", "No", "No"])
    assert figures == near(group_accuracy=0.5, f_acc=0.0, accuracy=0.5)


def test_points_of_a_package_are_numbers_and_without_one_a_response_is_unscored(
    tmp_path, monkeypatch
):
    """A half of NumPy, true as 1, and None, which is unread: 1.5 of three that are scored."""
    (tmp_path / "their_points.py").write_text(
        "import numpy as np\n"
        "def of(response, question):\n"
        "    points = np.float32(0.5), np.bool_(True), float('nan'), 2, 'yes', None\n"
        "    return dict(zip('abcdef', points))[response]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    section = """
        [benchmarks.own]
        file = "rows.jsonl"
        metric = "their_points:of"
    """
    written(tmp_path, section, [{"question": f"{n}?", "answer": "abcd"} for n in range(7)])
    task, built = opened(tmp_path)
    questions = built.questions
    predictions = [
        prediction(question_id=q.question_id, text=text)
        for q, text in zip(questions, "abcdefg", strict=True)
    ]
    scores = pipeline.score(task, questions, predictions, [])
    assert [score.points for score in scores] == [0.5, 1.0, None, None, None, 0.0, None]
    expected = "(expected points from 0 to 1, or None)"
    assert scores[5].unread
    assert [score.note for score in scores[2:]] == [
        f"cannot be scored: ValueError: nan {expected}",
        f"cannot be scored: ValueError: 2 {expected}",
        f"cannot be scored: ValueError: 'yes' {expected}",
        "",
        "cannot be scored: KeyError: 'g'",
    ]
    assert [type(score.points) for score in scores[:2]] == [float, float]  # as tables need them
    (row,) = [
        one
        for one in pipeline.summarise(task, questions, predictions, scores)
        if one.category == "all"
    ]
    assert (row.value, row.n_scored, row.n_unscored) == (0.5, 3, 4)


@pytest.mark.parametrize(
    ("entries", "row", "why"),
    [
        pytest.param("", {"answer": ["a", "b"]}, 'is a list: set answer_type to "text"', id="list"),
        pytest.param(
            'metric = "mean_iou"', {}, 'expected answer_type "box", got "text"', id="type"
        ),
        pytest.param('answer_type = "boxes"', {}, "answer_type", id="an unknown type"),
        pytest.param('metric = "acuracy"', {}, "did you mean 'accuracy'?", id="an unknown metric"),
        pytest.param('metric = "no_module:f"', {}, "No module named 'no_module'", id="a module"),
        pytest.param('answer_type = "graded"\nscale = "5"', {}, "scale '5'", id="a scale"),
        pytest.param(
            'answer_type = "number"\ntolerance = "x"', {}, "tolerance 'x'", id="tolerance"
        ),
    ],
)
def test_settings_that_do_not_fit_name_the_section(tmp_path, entries, row, why):
    section = f'[benchmarks.mine]\nfile = "rows.jsonl"\n{entries}'
    written(tmp_path, section, [{"question": "?", "answer": "a"} | row])
    with pytest.raises(SettingsError) as error:
        opened(tmp_path)
    assert why in str(error.value)
    assert "benchmarks.mine" in str(error.value)


@pytest.mark.parametrize(
    ("answer_type", "answer", "good"),
    [
        pytest.param("box", "left", "[1, 2, 3, 4]", id="a box"),
        pytest.param("number", "many", "3 cm", id="a number"),
        pytest.param("yes_no", "maybe", "No", id="yes or no"),
        pytest.param("list", [], "a, b", id="a list"),
        pytest.param("json", "{", {"a": 1}, id="a value"),
        pytest.param("choice", "A", "A", id="a letter without options"),
        pytest.param("graded", None, "so", id="no reference"),
    ],
)
def test_a_key_that_is_not_of_its_type_is_a_rejection(tmp_path, answer_type, answer, good):
    section = f'[benchmarks.mine]\nfile = "rows.jsonl"\nanswer_type = "{answer_type}"'
    options = {"options": ["x", "y"]} if answer_type == "choice" else {}
    rows = [{"question": "1?", "answer": answer}, {"question": "2?", "answer": good} | options]
    written(tmp_path, section, rows)
    _, built = opened(tmp_path)
    assert [rejection.entry for rejection in built.rejections] == [f"{tmp_path}/rows.jsonl, line 1"]
    assert [question.text for question in built.questions] == ["2?"]


def test_a_file_with_a_section_is_a_suite_by_its_path(tmp_path):
    """Its paths start at its folder; a change in it counts; a name of bench.toml is not taken."""
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    section = '[benchmarks.mine]\nfile = "rows.jsonl"\nanswer_type = "yes_no"\n'
    (elsewhere / "my.toml").write_text(section)
    assert add_known(home, ["codis", str(elsewhere / "my.toml")]) == ["codis", "mine"]
    found = load_settings(home).benchmarks["mine"]
    assert (str(found.file), found.answer_type) == (f"{elsewhere}/rows.jsonl", "yes_no")
    (elsewhere / "my.toml").write_text(section.replace("yes_no", "text"))
    assert load_settings(home).benchmarks["mine"].answer_type == "text"
    (home / "bench.toml").write_text(section)
    with pytest.raises(SettingsError, match=r"the name is taken by .*bench.toml"):
        add_known(home, [str(elsewhere / "my.toml")])
    with pytest.raises(SettingsError, match=r"gone.toml: no such file"):
        add_known(home, [str(elsewhere / "gone.toml")])
    (elsewhere / "rows.jsonl").touch()
    with pytest.raises(SettingsError, match=r"a \.toml file .* whose entry `file` is rows.jsonl"):
        add_known(home, [str(elsewhere / "rows.jsonl")])
    (home / "bench.toml").unlink()
    (elsewhere / "my.toml").unlink()
    assert load_settings(home).benchmarks == {}


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ('[benchmarks.bad]\nfile = "r.jsonl"\nanswer_type = "yesno"\n', "bad.answer_type"),
        ('[benchmarks.bad]\nfile = "r.jsonl"\nmetrics = "f1"\n', "did you mean 'metric'"),
        ("[benchmarks.bad\n", "TOML"),
    ],
)
def test_a_file_that_cannot_be_used_stops_no_other_benchmark(tmp_path, broken, why):
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text('[benchmarks.good]\nfile = "r.jsonl"\n')
    bad.write_text(broken)
    with pytest.raises(SettingsError, match=rf"bad\.toml.*{why}"):
        add_known(tmp_path, [str(bad)])
    assert load_settings(tmp_path).left_out == {}  # it was not taken
    bad.write_text('[benchmarks.bad]\nfile = "r.jsonl"\n')
    add_known(tmp_path, [str(good), str(bad)])
    bad.write_text(broken)  # edited since
    settings = load_settings(tmp_path)
    assert list(settings.benchmarks) == ["good"]
    assert why in settings.left_out["bad"]
    assert settings.section("bad") == f"{bad}, [benchmarks.bad]"
    catalog = load_catalog(settings)
    assert any("bad" in line and why in line for line in catalog.problems)
    assert "bad" in catalog.not_loaded  # its results are not those of a suite that is gone
