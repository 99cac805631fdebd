"""Reviews of EvalScope, with the score of each sample: ``reviews/MODEL/BENCHMARK_SUBSET.jsonl``."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench_assets.core.tables.json_records import Entry, read_lines, read_object, read_text
from bench_assets.external_results.results import (
    ExternalResults,
    ExternalSample,
    category_of,
    mean_of_points,
    shape_errors,
    to_model_name,
    to_number,
    to_text,
    unique_samples,
)

HARNESS = "EvalScope"

_LIMIT = re.compile(r"^limit: ([\d.]+)$", re.MULTILINE)  # samples of each subset, or their share


def is_review(row: Mapping[str, Any]) -> bool:
    """Whether a line has the fields of a review."""
    return "sample_score" in row and "index" in row


def read_evalscope(file: Path) -> ExternalResults:
    """Read the reviews of a model on a subset of a benchmark; the headline is their mean.

    Raises:
        SourceError: If a line is not a review, or two have the same index.
    """
    located_samples: list[tuple[str, ExternalSample]] = []
    score_name = ""
    for line in read_lines(file):
        sample, name = _sample_and_score_name(line.entry, line.where)
        located_samples.append((line.where, sample))
        score_name = score_name or name
    samples = unique_samples(located_samples)
    return ExternalResults(
        harness=HARNESS,
        task=file.stem,
        model=_model(file),
        metrics=tuple(mean_of_points(score_name or "score", samples)),
        samples=samples,
        partial=_limit(file, len({sample.sample_id for sample in samples})),
    )


def _limit(file: Path, n_samples: int) -> str:
    """The configured ``--limit`` of the run; "" without one, or if it left out no sample."""
    run_folder = file.absolute().parent.parent.parent  # of reviews/MODEL/FILE
    configs = sorted((run_folder / "configs").glob("task_config*.yaml"))
    match = _LIMIT.search(read_text(configs[-1])) if configs else None
    if match is None:
        return ""
    limit = float(match[1])
    return f"--limit {match[1]}" if limit < 1 or n_samples >= limit else ""


def _model(file: Path) -> str:
    """The model that the report of the run names; else the folder of the reviews."""
    folder = file.absolute().parent
    for report in sorted((folder.parent.parent / "reports" / folder.name).glob("*.json")):
        if reported_name := read_object(report).get("model_name"):
            return to_model_name(str(reported_name))
    return folder.name


def _sample_and_score_name(row: Entry, where: str) -> tuple[ExternalSample, str]:
    """A sample, and the name of its main score; "" if it has none."""
    with shape_errors(where, HARNESS):
        sample_score = row["sample_score"]
        score = sample_score["score"]
        values = score.get("value") or {}
        name = score.get("main_score_name") or next(iter(values), "")
        turns = row.get("messages") or []
        prompt_turns = [turn for turn in turns if turn.get("role") != "assistant"]
        prompt = row.get("input") or "\n\n".join(
            _text(turn.get("content")) for turn in prompt_turns
        )
        sample = ExternalSample(
            sample_id=to_text(row["index"]),
            prompt=prompt,
            target=(to_text(row.get("target")),),
            category=category_of(sample_score.get("sample_metadata") or {}),
            response=to_text(score.get("prediction")),
            answer=to_text(score.get("extracted_prediction")),
            points=to_number(values.get(name)),
            explanation=to_text(score.get("explanation")),
        )
    return sample, name


def _text(content: object) -> str:
    """Text of a message; of a list of parts, those that have a text."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if part.get("text"))
    return to_text(content)
