import json
from functools import partial
from pathlib import Path

import pytest

from bench_resources.tables.parquet import TableFiles
from tests.export.measured_home import MODEL, export_job, measure, questions, write_export

write_lm_eval = partial(write_export, "lm-eval")


@pytest.fixture
def export(home):
    """The results and the samples of an export, parsed."""
    samples_file, results_file = write_lm_eval(export_job(home, home / "out"))
    lines = samples_file.read_text(encoding="utf-8").splitlines()
    results = json.loads(results_file.read_text(encoding="utf-8"))
    return results, [json.loads(line) for line in lines]


def test_results_describe_the_task_and_its_evaluation(export):
    results, _ = export
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
    assert list(metadata["blind_baselines"]["accuracy"].values()) == [1.0, 0.25]


def test_a_sample_without_a_response_has_no_value(export):
    _, samples = export
    assert [sample.get("points") for sample in samples] == [1.0, 0.0, None, 0.0]
    assert [sample["metrics"] for sample in samples] == [["points"], ["points"], [], ["points"]]
    _, _, failed, _ = samples
    assert (failed["resps"], failed["error"]) == ([], "the server did not answer")


def test_another_edition_is_another_task(tmp_path):
    measure(TableFiles(folder=str(tmp_path / "tables")), questions("mini"))
    samples, results = write_lm_eval(export_job(tmp_path, tmp_path / "out"))
    assert samples.name.startswith("samples_quiz_mini_")
    assert list(json.loads(results.read_text(encoding="utf-8"))["results"]) == ["quiz_mini"]


def test_lm_eval_finds_the_files_and_makes_its_table(home):
    lm_eval = pytest.importorskip("lm_eval.utils", reason="no lm_eval: pip install lm-eval")
    pytest.importorskip("pytablewriter", reason="pytablewriter is not installed")
    paths = [str(path) for path in write_lm_eval(export_job(home, home / "out"))]

    (samples,) = lm_eval.get_sample_results_filenames(paths)
    (results,) = lm_eval.get_results_filenames(paths)
    assert lm_eval.get_file_task_name(Path(samples).name) == "quiz"
    assert lm_eval.get_file_datetime(samples) in results
    assert f"/{lm_eval.sanitize_model_name(MODEL)}/" in results

    table = lm_eval.make_table(json.loads(Path(results).read_text(encoding="utf-8")))
    (line,) = [line for line in table.splitlines() if "accuracy" in line]
    cells = " ".join(line.replace("|", " ").split())
    assert cells == "A quiz (published edition) 3 none 0 accuracy ↑ 0.3333 ± N/A"  # 1 of 3 is right
