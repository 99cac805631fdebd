import gzip
import json
import math
import shutil
from contextlib import nullcontext
from functools import cache
from typing import NamedTuple

import pytest

from bench_assets.core.reading.choices import read_choice
from bench_assets.core.schema.errors import SourceError
from bench_assets.evaluation.runner import GeneratedResponses, ModelVerdicts, RuleVerdicts, Runner
from bench_assets.suites.blink.dataset import (
    CONCATENATED_KEY,
    KEY,
    PERCEPTION_TASKS,
    questions_from_key,
    read_key,
)
from bench_assets.suites.blink.released_outputs import main, read_outputs, write_import
from bench_assets.suites.blink.task import TASK
from bench_resources.models.registry.recorded import (
    RecordedJudge,
    RecordedModel,
    compare_ids,
    read_responses,
)

# Percent: Table 1, column "Validation".
PUBLISHED = {
    "GPT4V": 51.14,
    "GeminiProVision": 45.16,
    "instructblip_7b": 39.72,
    "llava-v1.6-34b": 46.80,
    "llava_v1.5_13b": 42.66,
    "llava_v1.5_7b": 37.13,
}


def score_run(folder, run, condition="main", *, use_recorded_judge=True, scorer="official"):
    """Import a run and score the imported files; returns its accuracies in percent by category.

    Without the judge that is recorded beside the responses, rules judge them.
    """
    responses = write_import(read_outputs(run), folder, model=run.name, condition=condition)
    recorded = read_responses(responses)
    key = KEY if condition == "main" else CONCATENATED_KEY
    questions = questions_from_key(dict(read_key(folder / key).rows))
    model = RecordedModel(recorded[0].model, recorded, responses, condition)
    judge = RecordedJudge("gpt-3.5-turbo", recorded, responses, condition)
    by_model = ModelVerdicts(name=TASK.default_judge, open=lambda: nullcontext(judge))
    result = Runner(
        task=TASK,
        condition=condition,
        responses=GeneratedResponses.of(model),
        judge=by_model if use_recorded_judge else RuleVerdicts(),
        scorer=scorer,
    ).run(questions)
    assert not compare_ids(questions, recorded).missing
    return {
        row.category: 100 * row.value for row in result.metrics if row.metric == TASK.primary_metric
    }


def model_params(*names, quick):
    """A parameter for each model; all but the quick one are marked long."""
    return [name if name == quick else pytest.param(name, marks=pytest.mark.long) for name in names]


@pytest.mark.parametrize("model", model_params(*PUBLISHED, quick="GPT4V"))
def test_the_official_scorer_gives_the_validation_column(shared_data, tmp_path, model):
    accuracies = score_run(tmp_path, shared_data / "blink" / "saved_outputs" / model)
    assert round(accuracies["all"], 2) == PUBLISHED[model]


@pytest.mark.parametrize("model", model_params(*PUBLISHED, quick="llava_v1.5_13b"))
def test_the_recorded_words_of_the_judge_give_the_same_column(shared_data, tmp_path, model):
    run = shared_data / "blink" / "saved_outputs" / model
    assert round(score_run(tmp_path, run, scorer="as_released")["all"], 2) == PUBLISHED[model]


@pytest.mark.parametrize(
    "model", model_params("instructblip_7b", "llava-v1.6-34b", quick="instructblip_7b")
)
def test_two_models_need_no_judge(shared_data, tmp_path, model):
    run = shared_data / "blink" / "saved_outputs" / model
    assert round(score_run(tmp_path, run, use_recorded_judge=False)["all"], 2) == PUBLISHED[model]


def test_a_talkative_model_scores_under_12_percent_without_a_judge(shared_data, tmp_path):
    run = shared_data / "blink" / "saved_outputs" / "llava_v1.5_13b"
    assert score_run(tmp_path, run, use_recorded_judge=False)["all"] < 12


@pytest.mark.parametrize("model", model_params("GPT4V", "llava_v1.5_13b", quick="llava_v1.5_13b"))
def test_the_careful_reading_without_a_judge_is_close_to_the_published_number(
    shared_data, tmp_path, model
):
    run = shared_data / "blink" / "saved_outputs" / model
    accuracies = score_run(tmp_path, run, use_recorded_judge=False, scorer="careful")
    assert math.isclose(accuracies["all"], PUBLISHED[model], abs_tol=3)


# GPT-3.5, the judge, misread two: both say "the correct choice would be (A)", and end with "(B) is
# not the correct choice". The third states (A), and ends with image B.
READ_OTHERWISE = {"val_Jigsaw_41", "test_Jigsaw_45", "test_Jigsaw_54"}


class ReadLetters(NamedTuple):
    question_id: str
    careful: str  # "" if it reads none
    judge: str  # "" if it reads none


def read_letters(outputs):
    """The letters that the careful scorer and the recorded judge read in each response."""
    read = cache(read_choice)  # most responses are "(A)"
    letters = []
    for file in sorted(outputs.glob("*/*.json.gz")):
        task = PERCEPTION_TASKS[file.name.split(".")[0].removesuffix("_concat")]
        content = json.loads(gzip.decompress(file.read_bytes()))
        for row in [*content["val"], *content["test"]]:
            reading = read(row["full_prediction"], task.options)
            careful = reading.value if reading and not reading.named else ""
            judge = row["prediction"][:3].strip("()").replace("Z", "")  # "(Z)": no option
            letters.append(ReadLetters(question_id=row["idx"], careful=careful, judge=judge))
    return letters


@pytest.mark.long
def test_the_careful_scorer_hardly_ever_reads_another_letter_than_the_judge(shared_data):
    """All 25,060 responses of seven runs, both splits.

    Their judge reads none in 12 like "<s> A".
    """
    letters = read_letters(shared_data / "blink" / "saved_outputs")
    assert len(letters) == 25_060
    read_by_careful = [row for row in letters if row.careful]
    read_by_both = [row for row in read_by_careful if row.judge]
    differing = {row.question_id for row in read_by_both if row.careful != row.judge}
    assert differing == READ_OTHERWISE
    assert len(read_by_careful) - len(read_by_both) == 12
    assert len(read_by_both) > 0.81 * len(letters)  # of the rest most name one option


def test_gpt4v_has_its_six_numbers_of_table_2(shared_data, tmp_path):
    accuracies = score_run(tmp_path, shared_data / "blink" / "saved_outputs" / "GPT4V")
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
    shutil.copy(shared_data / "blink" / KEY, tmp_path)
    accuracies = score_run(tmp_path, run, "concatenated_images")
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
    own_key, main_key = (read_key(tmp_path / name).rows for name in (CONCATENATED_KEY, KEY))
    assert own_key != main_key


def test_a_run_on_concatenated_images_is_refused_without_the_key_of_the_main_run(tmp_path):
    with pytest.raises(SourceError, match=f"{tmp_path}: no {KEY}. Convert the run on separate"):
        write_import([], tmp_path, model="m", condition="concatenated_images")
    assert list(tmp_path.iterdir()) == []


def test_the_command_exits_with_a_message_about_outputs_that_it_cannot_read(tmp_path):
    with pytest.raises(SystemExit, match=f"^error: {tmp_path}: no saved outputs"):
        main([str(tmp_path), str(tmp_path / "out"), "--model", "m"])


@pytest.mark.parametrize(
    ("name", "content", "expected_message"),
    [
        pytest.param("x.txt", "", ": no saved outputs", id="no file of outputs"),
        pytest.param("Jigsaw.json", "[]", "/Jigsaw.json: cannot be read, expected", id="no splits"),
        pytest.param(
            "Jigsaw.json", '{"val": [{}]}', "/Jigsaw.json, val, row 1: no field 'idx'", id="no id"
        ),
        pytest.param("Jigsaw.json.gz", "x", "/Jigsaw.json.gz: cannot be read", id="not gzip"),
    ],
)
def test_outputs_that_cannot_be_read_are_refused_by_name(tmp_path, name, content, expected_message):
    (tmp_path / name).write_text(content)
    with pytest.raises(SourceError, match=f"{tmp_path}{expected_message}"):
        read_outputs(tmp_path)
