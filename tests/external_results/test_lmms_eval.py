"""Samples of lmms-eval and lm-evaluation-harness: names of files, models and points."""

import json

import pytest

from bench_assets.external_results.reading import read_external_results

DATE = "2026-08-21T10-11-12.123456"


def write(folder, task="art", samples_date=DATE, results_date=DATE, rows=None, **results):
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


@pytest.mark.parametrize("named_by", ["samples", "results"])
def test_results_of_lm_evaluation_harness_are_read(tmp_path, named_by):
    samples = write(tmp_path)
    file = samples if named_by == "samples" else tmp_path / f"results_{DATE}.json"
    (found,) = read_external_results(file)
    assert (found.measured_by, found.task, found.model, found.partial) == (
        "lm-evaluation-harness 0.4.13",
        "art",
        "Org/Seer-3B",
        "3 of 30 samples",
    )
    assert [(one.name, one.value) for one in found.metrics] == [("acc", 2 / 3)]
    first = found.samples[0]
    assert (first.prompt, first.response, first.target, first.points) == (
        "Which, 0?",
        "A",
        ("A",),
        0.0,
    )


def test_messages_to_a_server_are_the_prompt(tmp_path):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which?"}]
    row = {"doc_id": 0, "target": "A", "resps": [["A"]], "filtered_resps": ["A"], "acc": 1.0}
    row["arguments"] = {"gen_args_0": {"arg_0": [json.dumps(messages)], "arg_1": {}}}
    (results,) = read_external_results(write(tmp_path, rows=[row]))
    assert results.samples[0].prompt == "Be brief.\n\nWhich?"


def test_results_may_be_of_a_later_time_as_of_our_own_export(tmp_path):
    samples = write(tmp_path, results_date="2026-08-22T00-00-00")
    assert len(read_external_results(samples)[0].samples) == 3


@pytest.mark.parametrize("named_by", ["samples", "results"])
def test_results_are_those_of_their_own_run_and_may_have_another_name(tmp_path, named_by):
    """As of two runs into one folder with ``--output_path seer.json``."""
    dates = ("2026-08-21T10-00-00.1", "2026-08-22T10-00-00.2")
    for n_samples, date in enumerate(dates, 1):
        rows = [
            {"doc_id": n, "target": "A", "resps": [["A"]], "acc": 1.0} for n in range(n_samples)
        ]
        write(tmp_path, samples_date=date, results_date=date, rows=rows, git_hash=date)
        (tmp_path / f"results_{date}.json").rename(tmp_path / f"seer_{date}.json")
    for n_samples, date in enumerate(dates, 1):
        name = f"samples_art_{date}.jsonl" if named_by == "samples" else f"seer_{date}.json"
        (found,) = read_external_results(tmp_path / name)
        assert (len(found.samples), found.model) == (n_samples, "Org/Seer-3B")


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
    first, second = read_external_results(write(tmp_path, rows=rows))[0].samples
    assert (first.draw, first.points, second.draw, second.error) == (0, 1.0, 1, "timed out")


@pytest.mark.parametrize(
    ("details", "points"),
    [
        pytest.param(("multiple-choice", "B", ["B"]), 1.0, id="the right letter"),
        pytest.param(("multiple-choice", "B", ["A"]), 0.0, id="another one"),
        pytest.param(("multiple-choice", "B", ["A", "B"]), 1.0, id="one of several draws"),
        pytest.param(("open", "12", ["the result", 12.0]), 1.0, id="a number"),
        pytest.param(("open", "12", ["1"]), 0.0, id="another number"),
    ],
)
def test_mmmu_of_lmms_eval_has_points(tmp_path, details, points):
    kind, answer, parsed = details
    row = {"doc_id": 0, "target": answer, "filtered_resps": ["x"], "input": "?"}
    row["mmmu_acc"] = {
        "id": "validation_Art_1",
        "question_type": kind,
        "answer": answer,
        "parsed_pred": parsed,
    }
    (tmp_path / "d_samples_mmmu_val.jsonl").write_text(json.dumps(row) + "\n")
    results = {"results": {"mmmu_val": {"mmmu_acc,none": points}}, "model_name": "m"}
    (tmp_path / "d_results.json").write_text(json.dumps(results))
    (found,) = read_external_results(tmp_path / "d_results.json")
    assert found.samples[0].points == points


def test_docvqa_has_several_right_answers(tmp_path):
    row = {"doc_id": 0, "target": ["one", "1"], "filtered_resps": ["one"], "anls": 0.9}
    (tmp_path / "d_samples_docvqa_val.jsonl").write_text(json.dumps(row) + "\n")
    results = {"results": {"docvqa_val": {"anls,none": 0.9}}, "model_name": "m"}
    (tmp_path / "d_results.json").write_text(json.dumps(results))
    (sample,) = read_external_results(tmp_path / "d_results.json")[0].samples
    assert (sample.target, sample.points) == (("one", "1"), 0.9)
