"""Benchmarks from files alone, of at most eight lines of TOML, with metrics calculated by hand.

``tests/resources/config`` tests the known benchmarks against their authors' rules.
"""

import json
from textwrap import dedent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation import pipeline
from bench_assets.file_benchmarks.questions import benchmark_location, build
from bench_assets.file_benchmarks.suite import file_benchmark_suites
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.known_benchmarks import add_known
from bench_resources.models.registry.baselines import ScriptedModel
from tests.cases import read_cases
from tests.fakes.rows import prediction
from tests.fakes.written_images import saved
from tests.file_benchmarks.test_questions import put_image

IMAGE = {"bytes": saved(Image.new("RGB", (64, 48))), "path": None}  # a cell of a Parquet file


def write_home(folder, section, rows):
    """Write a bench.toml of one benchmark, and its rows as the section names the file."""
    section = dedent(section).strip()
    assert len(section.split("\n")) <= 8
    (folder / "bench.toml").write_text(section)
    if "rows.parquet" in section:
        pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet")
    else:
        (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))


def open_benchmark(folder):
    """Load the one benchmark of a home; returns its task, and what is built from its rows."""
    settings = load_settings(folder)
    ((name, benchmark),) = settings.benchmarks.items()
    ((_, suite),) = file_benchmark_suites(settings)
    location = benchmark_location(name, settings.resolve(benchmark.file), settings)
    return suite.tasks[0], build(benchmark, location, put_image)


def evaluate(folder, responses, judge=None):
    """The value of each metric over all questions, from responses in the order of the questions."""
    task, built = open_benchmark(folder)
    assert not built.rejections
    questions = built.questions
    predictions = predict(questions, responses)
    verdicts = pipeline.judge(task, questions, predictions, judge) if task.is_judged else []
    scores = pipeline.score(task, questions, predictions, verdicts)
    rows = pipeline.summarise(task, questions, predictions, scores)
    overall = [row for row in rows if row.category == "all"]
    assert all(row.low <= row.value <= row.high for row in overall)
    return {row.metric: row.value for row in overall}


def predict(questions, responses):
    return [
        prediction(question_id=question.question_id, text=text)
        for question, text in zip(questions, responses, strict=True)
    ]


def approximately(**values):
    return pytest.approx(values, abs=1e-9)


def test_a_list_of_answers_becomes_questions_with_boxes_as_in_refcoco(tmp_path):
    """Three questions with an IoU of 1, 1/2 and 0: mean 1/2, and two of three reach 0.5."""
    section = """
        [benchmarks.refcoco]
        file = "rows.parquet"
        columns = { id = "question_id", question = "answer", answer = "bbox" }
        ignore = ["file_name"]
        answer_type = "box"
        coordinates = "xywh pixels"
    """
    rows = [
        {"question_id": "1", "image": IMAGE, "question": "Describe.", "answer": ["cat", "left cat"]}
        | {"bbox": [10.0, 10.0, 20.0, 10.0], "file_name": "COCO_1.jpg"},
        {"question_id": "2", "image": IMAGE, "question": "Describe.", "answer": ["dog"]}
        | {"bbox": [0.0, 0.0, 10.0, 10.0], "file_name": "COCO_2.jpg"},
    ]
    write_home(tmp_path, section, rows)
    responses = ["[10, 10, 30, 20]", "[10, 10, 20, 20]", "[40, 40, 60, 48]"]
    assert evaluate(tmp_path, responses) == approximately(mean_iou=0.5, accuracy_at_50=2 / 3)
    _, built = open_benchmark(tmp_path)
    ids = [question.question_id for question in built.questions]
    assert ids == ["refcoco/1/1", "refcoco/1/2", "refcoco/2/1"]


def test_grades_are_scaled_and_a_reply_without_a_grade_is_unscored(tmp_path):
    """Grades 5, 3 and "I cannot" of 1 to 5: 1, 0.5 and unscored; 0.75 over two."""
    section = """
        [benchmarks.open]
        file = "rows.jsonl"
        answer_type = "graded"
        scale = "1..5"
    """
    write_home(tmp_path, section, [{"question": f"Why {n}?", "answer": "so"} for n in range(3)])
    grades = {"a": "5", "b": "3", "c": "I cannot"}  # response -> the judge's reply

    def grade(request):
        prompt = str(request.prompt.turns[0].parts[0])
        (response,) = (name for name in grades if f"Reply: {name}\n" in prompt)
        return grades[response]

    judge = ScriptedModel("j", grade)
    assert evaluate(tmp_path, list(grades), judge) == approximately(mean_grade=0.75)


def test_groups_are_formed_by_arithmetic_and_by_further_columns(tmp_path):
    """Both of the first pair are right, both of the second wrong; each figure is in both pairs."""
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
    write_home(tmp_path, section, rows)
    values = evaluate(tmp_path, ["Yes", "Yes", "No", "No"])
    assert values == approximately(group_accuracy=0.5, f_acc=0.0, accuracy=0.5)


@pytest.fixture
def scores_of_a_package(tmp_path, monkeypatch):
    """Scores of the responses a to g by a function of a package, and the row over all of them."""
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
    write_home(tmp_path, section, [{"question": f"{n}?", "answer": "abcd"} for n in range(7)])
    task, built = open_benchmark(tmp_path)
    predictions = predict(built.questions, "abcdefg")
    scores = pipeline.score(task, built.questions, predictions, [])
    rows = pipeline.summarise(task, built.questions, predictions, scores)
    (overall,) = (row for row in rows if row.category == "all")
    return scores, overall


def test_points_of_a_package_are_floats_as_tables_need_them(scores_of_a_package):
    (half, right, *_), _ = scores_of_a_package
    assert (half.points, right.points) == (0.5, 1.0)
    assert type(half.points) is type(right.points) is float


def test_a_response_without_points_of_the_package_is_unread(scores_of_a_package):
    (*_, unread, _), _ = scores_of_a_package
    assert (unread.points, unread.unread, unread.note) == (0.0, True, "")


def test_a_response_with_invalid_points_is_unscored_with_a_note(scores_of_a_package):
    scores, _ = scores_of_a_package
    expected = "(expected points from 0 to 1, or None)"
    assert [score.note for score in scores if score.points is None] == [
        f"cannot be scored: ValueError: nan {expected}",
        f"cannot be scored: ValueError: 2 {expected}",
        f"cannot be scored: ValueError: 'yes' {expected}",
        "cannot be scored: KeyError: 'g'",
    ]


def test_unscored_responses_are_left_out_of_the_mean(scores_of_a_package):
    """Of 0.5, 1 and 0 the mean is 0.5."""
    _, overall = scores_of_a_package
    assert (overall.value, overall.n_scored, overall.n_unscored) == (0.5, 3, 4)


@pytest.mark.parametrize(
    ("entries", "row", "expected_message"), read_cases(__file__, "settings_errors.jsonl")
)
def test_a_settings_error_names_the_section(tmp_path, entries, row, expected_message):
    section = f'[benchmarks.mine]\nfile = "rows.jsonl"\n{entries}'
    write_home(tmp_path, section, [{"question": "?", "answer": "a"} | row])
    with pytest.raises(SettingsError) as error:
        open_benchmark(tmp_path)
    assert expected_message in str(error.value)
    assert "benchmarks.mine" in str(error.value)


@pytest.mark.parametrize(
    ("answer_type", "invalid_answer", "valid_cells"), read_cases(__file__, "invalid_answers.jsonl")
)
def test_an_answer_that_is_not_of_its_type_is_a_rejection(
    tmp_path, answer_type, invalid_answer, valid_cells
):
    section = f'[benchmarks.mine]\nfile = "rows.jsonl"\nanswer_type = "{answer_type}"'
    rows = [{"question": "1?", "answer": invalid_answer}, {"question": "2?"} | valid_cells]
    write_home(tmp_path, section, rows)
    _, built = open_benchmark(tmp_path)
    (rejection,) = built.rejections
    assert rejection.entry == f"{tmp_path}/rows.jsonl, line 1"
    assert [question.text for question in built.questions] == ["2?"]


SECTION = '[benchmarks.mine]\nfile = "rows.jsonl"\nanswer_type = "yes_no"\n'


@pytest.fixture
def benchmark_file(tmp_path):
    """A file outside the home with the section of one benchmark."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "my.toml").write_text(SECTION)
    return tmp_path / "elsewhere" / "my.toml"


def test_a_file_with_a_section_is_added_by_its_path(home, benchmark_file):
    assert add_known(home, ["codis", str(benchmark_file)]) == ["codis", "mine"]
    benchmark = load_settings(home).benchmarks["mine"]
    assert str(benchmark.file) == f"{benchmark_file.parent}/rows.jsonl"
    assert benchmark.answer_type == "yes_no"


def test_a_change_of_an_added_file_counts(home, benchmark_file):
    add_known(home, [str(benchmark_file)])
    benchmark_file.write_text(SECTION.replace("yes_no", "text"))
    assert load_settings(home).benchmarks["mine"].answer_type == "text"


def test_an_added_file_that_is_deleted_is_no_benchmark(home, benchmark_file):
    add_known(home, [str(benchmark_file)])
    benchmark_file.unlink()
    assert load_settings(home).benchmarks == {}


def test_a_file_with_a_name_of_bench_toml_is_refused(home, benchmark_file):
    (home / "bench.toml").write_text(SECTION)
    benchmark_file.write_text(SECTION.replace("mine", "other") + SECTION)
    with pytest.raises(SettingsError, match=r"the name is taken by .*bench.toml"):
        add_known(home, [str(benchmark_file)])
    assert "other" not in load_settings(home).benchmarks


def test_a_path_without_a_file_is_refused(home, tmp_path):
    with pytest.raises(SettingsError, match=r"gone.toml: no such file"):
        add_known(home, [str(tmp_path / "gone.toml")])


def test_a_path_of_questions_is_refused_with_the_file_to_write(home, tmp_path):
    (tmp_path / "rows.jsonl").touch()
    with pytest.raises(SettingsError, match=r"a \.toml file .* whose entry `file` is rows.jsonl"):
        add_known(home, [str(tmp_path / "rows.jsonl")])


INVALID_SECTIONS = pytest.mark.parametrize(
    ("invalid", "expected_message"),
    [
        ('[benchmarks.bad]\nfile = "r.jsonl"\nanswer_type = "yesno"\n', "bad.answer_type"),
        ('[benchmarks.bad]\nfile = "r.jsonl"\nmetrics = "f1"\n', "did you mean 'metric'"),
        ("[benchmarks.bad\n", "TOML"),
    ],
    ids=["an unknown answer type", "an unknown entry", "a broken line"],
)


@INVALID_SECTIONS
def test_an_invalid_file_is_not_added(tmp_path, invalid, expected_message):
    file = tmp_path / "bad.toml"
    file.write_text(invalid)
    with pytest.raises(SettingsError, match=rf"bad\.toml.*{expected_message}"):
        add_known(tmp_path, [str(file)])
    assert load_settings(tmp_path).left_out == {}


@INVALID_SECTIONS
def test_an_added_file_that_becomes_invalid_is_left_out_alone(tmp_path, invalid, expected_message):
    good, bad = tmp_path / "good.toml", tmp_path / "bad.toml"
    good.write_text('[benchmarks.good]\nfile = "r.jsonl"\n')
    bad.write_text('[benchmarks.bad]\nfile = "r.jsonl"\n')
    add_known(tmp_path, [str(good), str(bad)])

    bad.write_text(invalid)

    settings = load_settings(tmp_path)
    assert list(settings.benchmarks) == ["good"]
    assert expected_message in settings.left_out["bad"]
    assert settings.section("bad") == f"{bad}, [benchmarks.bad]"
    catalog = load_catalog(settings)
    assert any("bad" in line and expected_message in line for line in catalog.problems)
    assert "bad" in catalog.not_loaded  # its results are not those of a suite that is gone
