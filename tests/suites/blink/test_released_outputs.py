"""The authors' released outputs: the published numbers come out of them."""

import gzip
import json
import math
from collections import Counter
from contextlib import nullcontext
from functools import cache

import pytest

from bench_assets.core.reading.choices import read_choice
from bench_assets.core.schema.errors import SourceError
from bench_assets.evaluation.runner import (
    GeneratedResponses,
    ModelVerdicts,
    RuleVerdicts,
    Runner,
)
from bench_assets.suites.blink.dataset import (
    CONCATENATED_KEY,
    KEY,
    PERCEPTION_TASKS,
    questions_from_key,
    read_key,
)
from bench_assets.suites.blink.released_outputs import read_outputs, write_import
from bench_assets.suites.blink.task import TASK
from bench_resources.models.registry.recorded import (
    RecordedJudge,
    RecordedModel,
    read_responses,
    report,
)

# Table 1, column "Validation".
PUBLISHED = {
    "GPT4V": 51.14,
    "GeminiProVision": 45.16,
    "instructblip_7b": 39.72,
    "llava-v1.6-34b": 46.80,
    "llava_v1.5_13b": 42.66,
    "llava_v1.5_7b": 37.13,
}


def metrics_of(folder, run, condition="main", *, judged=True, scorer="official"):
    """Import a run, and score it from the files that the import wrote.

    It is judged by the verdicts recorded beside the responses, or by rules.
    """
    responses = write_import(read_outputs(run), folder, model=run.name, condition=condition)
    recorded = read_responses(responses)
    key = KEY if condition == "main" else CONCATENATED_KEY
    questions = questions_from_key(dict(read_key(folder / key).rows))
    model = RecordedModel(recorded[0].model, recorded, responses, condition)
    judge = RecordedJudge("gpt-3.5-turbo", recorded, responses)
    by_model = ModelVerdicts(name=TASK.default_judge, open=lambda: nullcontext(judge))
    scored = Runner(
        task=TASK,
        condition=condition,
        responses=GeneratedResponses.of(model),
        judge=by_model if judged else RuleVerdicts(),
        scorer=scorer,
    ).run(questions)
    assert not report(questions, recorded).missing
    return {
        row.category: 100 * row.value for row in scored.metrics if row.metric == TASK.primary_metric
    }


def runs(*names, short):
    """The runs of models; all but one in `make long` only."""
    return [pytest.param(name, marks=[pytest.mark.long] * (name != short)) for name in names]


@pytest.mark.parametrize("model", runs(*PUBLISHED, short="GPT4V"))
def test_the_papers_validation_column_comes_out(shared_data, tmp_path, model):
    accuracies = metrics_of(tmp_path, shared_data / "blink" / "saved_outputs" / model)
    assert round(accuracies["all"], 2) == PUBLISHED[model]


@pytest.mark.parametrize("model", runs(*PUBLISHED, short="llava_v1.5_13b"))
def test_the_recorded_words_alone_give_the_same_column(shared_data, tmp_path, model):
    run = shared_data / "blink" / "saved_outputs" / model
    assert round(metrics_of(tmp_path, run, scorer="as_released")["all"], 2) == PUBLISHED[model]


@pytest.mark.parametrize(
    "model", runs("instructblip_7b", "llava-v1.6-34b", short="instructblip_7b")
)
def test_two_models_need_no_judge(shared_data, tmp_path, model):
    run = shared_data / "blink" / "saved_outputs" / model
    assert round(metrics_of(tmp_path, run, judged=False)["all"], 2) == PUBLISHED[model]


def test_talkative_models_fall_without_a_judge(shared_data, tmp_path):
    run = shared_data / "blink" / "saved_outputs" / "llava_v1.5_13b"
    assert metrics_of(tmp_path, run, judged=False)["all"] < 12


@pytest.mark.parametrize("model", runs("GPT4V", "llava_v1.5_13b", short="llava_v1.5_13b"))
def test_the_careful_reading_without_a_judge_is_close_to_the_published_number(
    shared_data, tmp_path, model
):
    run = shared_data / "blink" / "saved_outputs" / model
    accuracies = metrics_of(tmp_path, run, judged=False, scorer="careful")
    assert math.isclose(accuracies["all"], PUBLISHED[model], abs_tol=3)


# Two are GPT-3.5's: both responses say "the correct choice would be (A)", and end with "(B) is not
# the correct choice". Two hedge, "the answer could be (C)"; one states (A), and ends with image B.
READ_OTHERWISE = {
    "val_Jigsaw_41",
    "test_Jigsaw_45",
    "val_Relative_Reflectance_48",
    "test_Relative_Reflectance_67",
    "test_Jigsaw_54",
}


@pytest.mark.long
def test_the_careful_reading_hardly_ever_reads_another_letter_than_the_judge(shared_data):
    """All 25,060 responses of seven runs, both splits.

    Their judge reads none in 12 like "<s> A".
    """
    found, other = Counter[tuple[bool, bool]](), set[str]()
    read = cache(read_choice)  # most are "(A)"
    for file in sorted((shared_data / "blink" / "saved_outputs").glob("*/*.json.gz")):
        task = PERCEPTION_TASKS[file.name.split(".")[0].removesuffix("_concat")]
        content = json.loads(gzip.decompress(file.read_bytes()))
        for row in [*content["val"], *content["test"]]:
            stated = read(row["full_prediction"], task.options)
            letter = stated.value if stated and not stated.named else ""
            recorded = row["prediction"][:3].strip("()").replace("Z", "")
            found[bool(letter), bool(recorded)] += 1
            if letter and recorded not in (letter, ""):
                other.add(row["idx"])
    assert found.total() == 25_060
    assert other <= READ_OTHERWISE
    assert found[True, False] <= 14
    assert found[True, True] > 0.81 * found.total()  # of the rest most name one option


def test_gpt4vs_six_numbers_of_table_2_come_out(shared_data, tmp_path):
    accuracies = metrics_of(tmp_path, shared_data / "blink" / "saved_outputs" / "GPT4V")
    printed = {
        "Visual_Correspondence": 33.72,
        "Relative_Depth": 59.68,
        "Multi-view_Reasoning": 55.64,
        "Semantic_Correspondence": 28.78,
        "Forensic_Detection": 34.09,
        "Relative_Reflectance": 38.81,
    }
    assert {task: round(accuracies[task], 2) for task in printed} == printed


def test_the_run_on_concatenated_images_is_scored_against_its_own_key(shared_data, tmp_path):
    run = shared_data / "blink" / "saved_outputs" / "GPT4V_concat"
    accuracies = metrics_of(tmp_path, run, "concatenated_images")
    # Computed by another implementation from the same files.
    expected = {
        "Art_Style": 71.79,
        "Forensic_Detection": 30.30,
        "Functional_Correspondence": 23.08,
        "Jigsaw": 52.67,
        "Multi-view_Reasoning": 54.89,
        "Semantic_Correspondence": 23.02,
        "Visual_Correspondence": 27.91,
        "Visual_Similarity": 73.33,
    }
    assert {task: round(accuracies[task], 2) for task in expected} == expected
    assert dict(read_key(tmp_path / CONCATENATED_KEY).rows) != dict(
        read_key(shared_data / "blink" / KEY).rows
    )


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        pytest.param("x.txt", "", "no saved outputs", id="no file of outputs"),
        pytest.param("Jigsaw.json", "[]", "Jigsaw.json: cannot be read, expected", id="no splits"),
        pytest.param("Jigsaw.json", '{"val": [{}]}', "val, row 1: no field 'idx'", id="no id"),
        pytest.param("Jigsaw.json.gz", "x", "cannot be read", id="not gzip"),
    ],
)
def test_outputs_that_cannot_be_read_are_refused_by_name(tmp_path, name, content, complaint):
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceError, match=complaint):
        read_outputs(tmp_path)
