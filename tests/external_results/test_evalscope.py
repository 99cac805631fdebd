"""Reviews of EvalScope, as its ``ReviewResult`` is written."""

import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.external_results.reading import read_external_results


def review(index, points, **fields):
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
    row = {"index": index, "target": "A", "messages": messages}
    row["sample_score"] = {
        "score": score,
        "sample_id": index,
        "sample_metadata": {"subject": "Art"},
    }
    return row | fields


def write(folder, rows):
    file = folder / "reviews" / "seer-3b" / "mmmu_Art.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return file


def test_a_review_has_the_points_of_its_main_score(tmp_path):
    file = write(tmp_path, [review(0, 1.0), review(1, 0.0), review(2, True)])
    (found,) = read_external_results(file)
    assert (found.measured_by, found.task, found.model) == ("EvalScope", "mmmu_Art", "seer-3b")
    assert [(one.name, one.value) for one in found.metrics] == [("acc", pytest.approx(2 / 3))]
    first = found.samples[0]
    assert (first.prompt, first.response, first.answer, first.category, first.points) == (
        "Which, 0?",
        "The answer is A.",
        "A",
        "Art",
        1.0,
    )


def test_the_report_of_the_run_names_the_model(tmp_path):
    file = write(tmp_path, [review(0, 1.0)])
    report = tmp_path / "reports" / "seer-3b" / "mmmu.json"
    report.parent.mkdir(parents=True)
    report.write_text(json.dumps({"model_name": "Org/Seer-3B"}))
    assert read_external_results(file)[0].model == "Org/Seer-3B"


@pytest.mark.parametrize(
    ("limit", "partial"),
    [
        pytest.param("2", "--limit 2", id="as many as there are"),
        pytest.param("0.5", "--limit 0.5", id="a share"),
        pytest.param("3", "", id="more than the subset has"),
    ],
)
def test_a_run_with_a_limit_is_partial(tmp_path, limit, partial):
    file = write(tmp_path, [review(0, 1.0), review(1, 1.0)])
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "task_config_b6f42c.yaml").write_text(
        f"a:\n  limit: 1\nlimit: {limit}\n"
    )
    assert read_external_results(file)[0].partial == partial


def test_an_unusable_score_is_no_zero(tmp_path):
    row = review(0, 1.0)
    row["sample_score"]["score"]["value"] = {}
    (found,) = read_external_results(write(tmp_path, [row, review(1, 1.0)]))
    assert [one.points for one in found.samples] == [None, 1.0]


def test_a_line_of_another_shape_is_named(tmp_path):
    file = write(tmp_path, [review(0, 1.0), {"index": 1, "sample_score": 3}])
    with pytest.raises(SourceError, match=r"line 2: not as EvalScope writes it"):
        read_external_results(file)
