import json
from pathlib import Path

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.external_results import evalscope
from bench_assets.external_results.reading import read_external_results


def review(index, points):
    """A review of one response, with a main score and another one."""
    score = {
        "value": {"acc": points, "other": 0.5},
        "main_score_name": "acc",
        "extracted_prediction": "A",
        "prediction": "The answer is A.",
        "explanation": None,
    }
    messages = [
        {"role": "user", "content": [{"type": "text", "text": f"Which, {index}?"}, {"image": "x"}]},
        {"role": "assistant", "content": "The answer is A."},
    ]
    metadata = {"subject": "Art"}
    sample_score = {"score": score, "sample_id": index, "sample_metadata": metadata}
    return {"index": index, "target": "A", "messages": messages, "sample_score": sample_score}


def write_reviews(folder, rows):
    file = folder / "reviews" / "seer-3b" / "mmmu_Art.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return file


def test_points_are_those_of_the_main_score(tmp_path):
    file = write_reviews(tmp_path, [review(0, 1.0), review(1, 0.0), review(2, True)])
    (results,) = read_external_results(file)
    assert results.measured_by == "EvalScope"
    assert (results.task, results.model) == ("mmmu_Art", "seer-3b")
    values = {metric.name: metric.value for metric in results.metrics}
    assert values == {"acc": pytest.approx(2 / 3)}
    assert [sample.points for sample in results.samples] == [1.0, 0.0, 1.0]


def test_a_review_has_the_prompt_the_response_and_the_category(tmp_path):
    (results,) = read_external_results(write_reviews(tmp_path, [review(0, 1.0)]))
    (sample,) = results.samples
    assert (sample.prompt, sample.response) == ("Which, 0?", "The answer is A.")
    assert (sample.answer, sample.category) == ("A", "Art")


def test_the_report_of_the_run_names_the_model(tmp_path):
    file = write_reviews(tmp_path, [review(0, 1.0)])
    report = tmp_path / "reports" / "seer-3b" / "mmmu.json"
    report.parent.mkdir(parents=True)
    report.write_text(json.dumps({"model_name": "Org/Seer-3B"}))
    (results,) = read_external_results(file)
    assert results.model == "Org/Seer-3B"


@pytest.mark.parametrize(
    ("limit", "partial"),
    [
        pytest.param("2", "--limit 2", id="as many as there are"),
        pytest.param("0.5", "--limit 0.5", id="a share"),
        pytest.param("3", "", id="more than the subset has"),
    ],
)
def test_a_run_is_partial_if_its_limit_left_out_samples(tmp_path, limit, partial):
    file = write_reviews(tmp_path, [review(0, 1.0), review(1, 1.0)])
    (tmp_path / "configs").mkdir()
    config = tmp_path / "configs" / "task_config_b6f42c.yaml"
    config.write_text(f"a:\n  limit: 1\nlimit: {limit}\n")
    (results,) = read_external_results(file)
    assert results.partial == partial


def test_reviews_outside_of_the_folders_of_a_run_have_no_limit():
    assert evalscope._limit(Path("/mmmu_Art.jsonl"), 1) == ""


def test_an_unusable_score_gives_no_points(tmp_path):
    row = review(0, 1.0)
    row["sample_score"]["score"]["value"] = {}
    (results,) = read_external_results(write_reviews(tmp_path, [row, review(1, 1.0)]))
    assert [sample.points for sample in results.samples] == [None, 1.0]


def test_an_unusable_line_is_named(tmp_path):
    file = write_reviews(tmp_path, [review(0, 1.0), {"index": 1, "sample_score": 3}])
    with pytest.raises(SourceError, match=r"line 2: not as EvalScope writes it"):
        read_external_results(file)
