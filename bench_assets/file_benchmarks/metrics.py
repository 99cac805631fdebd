"""Metrics of benchmarks by name: measures, the primary one first, and how texts are compared."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench_assets.core.answer_types.definition import AnswerTypeName, Matching
from bench_assets.core.metrics import aggregates, caption_measures
from bench_assets.core.metrics.aggregates import Aggregate
from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.sections.benchmarks import MetricName


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDefinition:
    """A metric of a benchmark."""

    measures: Mapping[str, Aggregate]  # by name; the first is the primary one
    answer_types: tuple[AnswerTypeName, ...] = ()  # () for all but boxes and graded answers
    matching: Matching = "exact"  # of texts
    is_judgeable: bool = False  # whether a judge may decide about responses that no rule reads
    lower_is_better: frozenset[str] = frozenset()  # measures of which lower values are better
    right_from: float = 1.0  # least share of the points that makes a response right


_ACCURACY: dict[str, Aggregate] = {"accuracy": aggregates.accuracy}
_IOU: dict[str, Aggregate] = {
    "mean_iou": aggregates.accuracy,
    "accuracy_at_50": aggregates.accuracy_at_half,
}
_YES: dict[str, Aggregate] = {
    "f1": aggregates.f1,
    "precision": aggregates.precision,
    "recall": aggregates.recall,
    "yes_ratio": aggregates.yes_ratio,
    **_ACCURACY,
}
_CAPTIONS: dict[str, Aggregate] = {
    "cider": caption_measures.cider,
    "rouge_l": caption_measures.rouge_l,
    **{f"bleu_{n}": caption_measures.bleu_n(n) for n in (4, 3, 2, 1)},
}


def _text_metric(name: str, matching: Matching) -> MetricDefinition:
    return MetricDefinition(
        measures={name: aggregates.accuracy}, answer_types=("text",), matching=matching
    )


def _caption_metric(primary: str) -> MetricDefinition:
    measures = {primary: _CAPTIONS[primary], **_CAPTIONS}
    return MetricDefinition(measures=measures, answer_types=("text",), matching="rouge_l")


def _box_metric(measures: Mapping[str, Aggregate]) -> MetricDefinition:
    return MetricDefinition(
        measures=measures, answer_types=("box",), right_from=aggregates.IOU_THRESHOLD
    )


METRICS: Mapping[str, MetricDefinition] = {
    "accuracy": MetricDefinition(measures=_ACCURACY, is_judgeable=True),
    "macro_accuracy": MetricDefinition(
        measures={"macro_accuracy": aggregates.macro_accuracy, **_ACCURACY}, is_judgeable=True
    ),
    "group_accuracy": MetricDefinition(
        measures={"group_accuracy": aggregates.group_accuracy, **_ACCURACY}, is_judgeable=True
    ),
    "exact_match": MetricDefinition(measures={"exact_match": aggregates.accuracy}),
    "f1": MetricDefinition(measures=_YES, answer_types=("yes_no", "choice")),
    "anls": _text_metric("anls", "anls"),
    "relaxed_accuracy": MetricDefinition(
        measures={"relaxed_accuracy": aggregates.accuracy},
        answer_types=("text", "number"),
        matching="relaxed",
    ),
    "vqa_accuracy": _text_metric("vqa_accuracy", "vqa"),
    "mean_iou": _box_metric(_IOU),
    "accuracy_at_50": _box_metric(dict(reversed(_IOU.items()))),
    "numeric": MetricDefinition(
        measures={"numeric": aggregates.accuracy}, answer_types=("number",)
    ),
    "bleu": _caption_metric("bleu_4"),
    "rouge_l": _caption_metric("rouge_l"),
    "cider": _caption_metric("cider"),
    "wer": MetricDefinition(
        measures={"wer": aggregates.word_error_rate, "words_right": aggregates.accuracy},
        answer_types=("text",),
        matching="words",
        lower_is_better=frozenset({"wer"}),
    ),
    "mean_grade": MetricDefinition(
        measures={"mean_grade": aggregates.accuracy}, answer_types=("graded",)
    ),
}
_TYPE_METRICS: Mapping[AnswerTypeName, MetricName] = {"box": "mean_iou", "graded": "mean_grade"}


def find_metric(name: str, answer_type: AnswerTypeName | None) -> MetricDefinition:
    """Find the metric of a benchmark, which has to fit its answer type.

    Raises:
        SettingsError: If it does not.
    """
    metric, type_name = METRICS[name], answer_type or "text"
    if metric.answer_types and type_name not in metric.answer_types:
        expected = " or ".join(f'"{fitting_type}"' for fitting_type in metric.answer_types)
        raise SettingsError(f'metric "{name}": expected answer_type {expected}, got "{type_name}"')
    type_metric = _TYPE_METRICS.get(type_name)
    if type_metric and not metric.answer_types:
        raise SettingsError(
            f'metric "{name}": expected "{type_metric}" for answer_type "{type_name}"'
        )
    return metric


def default_metric(answer_type: AnswerTypeName | None) -> MetricName:
    """Metric of a benchmark without the setting ``metric``."""
    return _TYPE_METRICS.get(answer_type or "text", "accuracy")
