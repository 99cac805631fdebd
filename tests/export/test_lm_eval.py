"""Results and samples of lm-eval, read by its own functions where it is installed."""

import json
from functools import partial

import pytest

from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import MODEL, leaving, measure, questions, write

WRITE = partial(write, "lm-eval")


@pytest.fixture
def written(home):
    samples, results = WRITE(leaving(home, home / "out"))
    lines = samples.read_text(encoding="utf-8").splitlines()
    return json.loads(results.read_text(encoding="utf-8")), list(map(json.loads, lines))


def test_results_say_what_was_measured_and_of_how_many(written):
    results, _ = written
    assert results["results"] == {
        "quiz": {
            "alias": "A quiz (published edition)",
            "accuracy,none": 1 / 3,
            "accuracy_stderr,none": "N/A",
        }
    }
    assert results["versions"] == {"quiz": 3}
    assert results["n-shot"] == {"quiz": 0}
    assert results["higher_is_better"] == {"quiz": {"accuracy": True}}
    assert results["n-samples"] == {"quiz": {"original": 4, "effective": 3}}
    assert results["model_name"] == MODEL
    metadata = results["configs"]["quiz"]["metadata"]
    assert (metadata["edition"], metadata["failed"]) == ("published", 1)
    assert [*metadata["blind_baselines"]["accuracy"].values()] == [1.0, 0.25]


def test_a_sample_without_a_response_has_no_value(written):
    _, samples = written
    assert [sample.get("points") for sample in samples] == [1.0, 0.0, None, 0.0]
    assert [sample["metrics"] for sample in samples] == [["points"], ["points"], [], ["points"]]
    assert (samples[2]["resps"], samples[2]["error"]) == ([], "the server did not answer")


def test_another_edition_is_another_task(tmp_path):
    measure(TableFiles(folder=str(tmp_path / "tables")), questions("mini"))
    samples, results = WRITE(leaving(tmp_path, tmp_path / "out"))
    assert samples.name.startswith("samples_quiz_mini_")
    assert list(json.loads(results.read_text(encoding="utf-8"))["results"]) == ["quiz_mini"]


def test_lm_eval_finds_the_files_and_makes_its_table(home):
    reader = pytest.importorskip(
        "lm_eval.utils", reason="lm_eval is not installed: pip install lm-eval"
    )
    pytest.importorskip("pytablewriter", reason="pytablewriter is not installed")
    paths = list(map(str, WRITE(leaving(home, home / "out"))))
    (samples,) = reader.get_sample_results_filenames(paths)
    (results,) = reader.get_results_filenames(paths)
    assert reader.get_file_task_name(samples.rpartition("/")[2]) == "quiz"
    assert reader.get_file_datetime(samples) in results
    assert f"/{reader.sanitize_model_name(MODEL)}/" in results
    with open(results, encoding="utf-8") as file:  # noqa: PTH123
        table = reader.make_table(json.load(file))
    (line,) = [line for line in table.splitlines() if "accuracy" in line]
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        *("A quiz (published edition)", "3", "none", "0", "accuracy", "↑", "0.3333", "±", "N/A"),
    ]
