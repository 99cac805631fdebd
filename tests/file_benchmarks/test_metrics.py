import pytest

from bench_assets.core.schema.errors import SettingsError
from bench_assets.file_benchmarks.metrics import METRICS, default_metric, find_metric


@pytest.mark.parametrize("name", METRICS)
def test_the_primary_measure_has_the_name_of_its_metric(name):
    primary_measure, *_ = METRICS[name].measures
    assert primary_measure == ("bleu_4" if name == "bleu" else name)  # BLEU is reported as BLEU-4


@pytest.mark.parametrize(
    ("answer_type", "metric"),
    [(None, "accuracy"), ("box", "mean_iou"), ("graded", "mean_grade"), ("number", "accuracy")],
)
def test_an_answer_type_has_a_default_metric(answer_type, metric):
    assert default_metric(answer_type) == metric


def test_a_metric_is_found_by_its_name():
    assert find_metric("f1", "yes_no") is METRICS["f1"]


@pytest.mark.parametrize(
    ("name", "answer_type", "expected_message"),
    [
        ("mean_iou", None, 'expected answer_type "box", got "text"'),
        ("accuracy", "box", 'expected "mean_iou" for answer_type "box"'),
    ],
)
def test_a_metric_of_another_answer_type_is_refused(name, answer_type, expected_message):
    with pytest.raises(SettingsError, match=expected_message):
        find_metric(name, answer_type)
