import json

import pytest

from bench_assets.core.schema.errors import SourceError
from bench_assets.external_results.reading import read_external_results

DATE = "2026-08-21T10-11-12.123456"


def write_results(folder, task="art", samples_date=DATE, results_date=DATE, rows=None, **results):
    """Samples and results as lm-evaluation-harness writes them."""
    rows = rows or [
        {
            "doc_id": n,
            "doc": {"subject": "Art"},
            "target": letter,
            "arguments": {"gen_args_0": {"arg_0": f"Which, {n}?", "arg_1": {"until": []}}},
            "resps": [[letter]],
            "filtered_resps": [letter],
            "filter": "none",
            "metrics": ["acc"],
            "acc": float(n > 0),
        }
        for n, letter in enumerate("ABC")
    ]
    samples = folder / f"samples_{task}_{samples_date}.jsonl"
    samples.write_text("\n".join(map(json.dumps, rows)) + "\n")
    document = {
        "results": {task: {"alias": task, "acc,none": 2 / 3, "acc_stderr,none": 0.1}},
        "n-samples": {task: {"original": 30, "effective": 3}},
        "model_name": "/cache/models--Org--Seer-3B/snapshots/0123",
        "lm_eval_version": "0.4.13",
        **results,
    }
    (folder / f"results_{results_date}.json").write_text(json.dumps(document))
    return samples


@pytest.mark.parametrize("name", [f"samples_art_{DATE}.jsonl", f"results_{DATE}.json"])
def test_results_of_lm_evaluation_harness_are_read(tmp_path, name):
    write_results(tmp_path)
    (results,) = read_external_results(tmp_path / name)
    assert results.measured_by == "lm-evaluation-harness 0.4.13"
    assert (results.task, results.model) == ("art", "Org/Seer-3B")
    assert results.partial == "3 of 30 samples"
    assert {metric.name: metric.value for metric in results.metrics} == {"acc": 2 / 3}
    first, *_ = results.samples
    assert (first.prompt, first.response, first.target) == ("Which, 0?", "A", ("A",))
    assert first.points == 0.0


def test_an_unusable_file_of_lm_evaluation_harness_is_named_with_its_harness(tmp_path):
    samples = write_results(tmp_path, **{"n-samples": [1]})
    with pytest.raises(SourceError, match="n-samples: not as lm-evaluation-harness writes it"):
        read_external_results(samples)


def test_messages_to_a_server_are_the_prompt(tmp_path):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}]
    row = {"doc_id": 0, "target": "A", "resps": [["A"]], "filtered_resps": ["A"], "acc": 1.0}
    row["arguments"] = {"gen_args_0": {"arg_0": [json.dumps(messages)], "arg_1": {}}}
    (results,) = read_external_results(write_results(tmp_path, rows=[row]))
    (sample,) = results.samples
    assert sample.prompt == "Be brief.\n\nWhich?"


def test_results_may_have_a_later_time_than_the_samples(tmp_path):
    """``bench export lm-eval`` writes the results after the samples."""
    samples = write_results(tmp_path, results_date="2026-08-22T00-00-00")
    (results,) = read_external_results(samples)
    assert {metric.name: metric.value for metric in results.metrics} == {"acc": 2 / 3}
    assert [sample.points for sample in results.samples] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("name", "n_samples"),
    [
        ("samples_art_2026-08-21T10-00-00.1.jsonl", 1),
        ("seer_2026-08-21T10-00-00.1.json", 1),
        ("samples_art_2026-08-22T10-00-00.2.jsonl", 2),
        ("seer_2026-08-22T10-00-00.2.json", 2),
    ],
)
def test_results_of_two_runs_in_one_folder_stay_apart(tmp_path, name, n_samples):
    """As of two runs with ``--output_path seer.json``."""
    row = {"doc_id": 0, "target": "A", "resps": [["A"]], "acc": 1.0}
    runs = {"2026-08-21T10-00-00.1": [row], "2026-08-22T10-00-00.2": [row, row | {"doc_id": 1}]}
    for date, rows in runs.items():
        write_results(tmp_path, samples_date=date, results_date=date, rows=rows, git_hash=date)
        (tmp_path / f"results_{date}.json").rename(tmp_path / f"seer_{date}.json")
    (results,) = read_external_results(tmp_path / name)
    assert (len(results.samples), results.model) == (n_samples, "Org/Seer-3B")


def test_draws_of_our_own_export_stay_apart(tmp_path):
    rows = [
        {
            "doc_id": 0,
            "doc": {"sample": draw},
            "target": "A",
            "arguments": {},
            "resps": [] if draw else [["A"]],
            "filtered_resps": [],
            "points": 1.0,
            "max_points": 1.0,
            "error": "timed out" if draw else "",
        }
        for draw in range(2)
    ]
    (results,) = read_external_results(write_results(tmp_path, rows=rows))
    first, second = results.samples
    assert (first.draw, first.points, second.draw, second.error) == (0, 1.0, 1, "timed out")


@pytest.mark.parametrize(
    ("kind", "answer", "parsed", "points"),
    [
        pytest.param("multiple-choice", "B", ["B"], 1.0, id="the right letter"),
        pytest.param("multiple-choice", "B", ["A"], 0.0, id="another one"),
        pytest.param("multiple-choice", "B", ["A", "B"], 1.0, id="one of several draws"),
        pytest.param("open", "12", ["the result", 12.0], 1.0, id="a number"),
        pytest.param("open", "12", ["1"], 0.0, id="another number"),
    ],
)
def test_points_of_mmmu_are_those_of_the_parsed_prediction(tmp_path, kind, answer, parsed, points):
    row = {"doc_id": 0, "target": answer, "filtered_resps": ["x"], "input": "?"}
    row["mmmu_acc"] = {
        "id": "validation_Art_1",
        "question_type": kind,
        "answer": answer,
        "parsed_pred": parsed,
    }
    sample = read_one_sample(tmp_path, "mmmu_val", row, {"mmmu_acc,none": points})
    assert sample.points == points


def read_one_sample(folder, task, row, metrics):
    """Write and read results of lmms-eval with one sample."""
    (folder / f"d_samples_{task}.jsonl").write_text(json.dumps(row) + "\n")
    document = {"results": {task: metrics}, "model_name": "m"}
    (folder / "d_results.json").write_text(json.dumps(document))
    (results,) = read_external_results(folder / "d_results.json")
    (sample,) = results.samples
    return sample


def test_docvqa_has_several_right_answers(tmp_path):
    row = {"doc_id": 0, "target": ["one", "1"], "filtered_resps": ["one"], "anls": 0.9}
    sample = read_one_sample(tmp_path, "docvqa_val", row, {"anls,none": 0.9})
    assert (sample.target, sample.points) == (("one", "1"), 0.9)
