"""Recognises the harness of a file by its content, and reads its results."""

import zipfile
from pathlib import Path

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import read_lines
from bench_assets.external_results.evalscope import is_review, read_evalscope
from bench_assets.external_results.inspect_logs import read_inspect_log
from bench_assets.external_results.lmms_eval import is_samples_or_results, read_lmms_samples
from bench_assets.external_results.results import ExternalResults
from bench_assets.external_results.vlmevalkit import SUFFIXES, has_predictions, read_vlmevalkit

FORMATS = (
    "a log of Inspect AI (.eval or .json), samples of lmms-eval (*_samples_TASK.jsonl beside"
    " *_results.json) or lm-evaluation-harness (samples_TASK_*.jsonl beside results_*.json), a"
    " review of EvalScope (reviews/MODEL/*.jsonl), or a file of VLMEvalKit"
    " (MODEL_DATASET.xlsx, .tsv, .csv or .json with the columns index and prediction)"
)
"""The formats that are read, for messages."""
_HEAD = 1 << 16  # bytes that are searched for the keys of an Inspect AI log


def read_external_results(file: Path, model: str = "") -> list[ExternalResults]:
    """Read the results of another harness; all tasks of a file of results.

    ``model`` names the model of files whose names do not say where it ends.

    Raises:
        SourceError: If the file is missing, of unknown format or damaged, or has no sample.
    """
    if not file.is_file():
        problem = "a folder" if file.is_dir() else "no such file"
        raise SourceError(f"{file}: {problem}; give {FORMATS}")
    if file.suffix == ".eval" or _is_inspect_json(file):
        results = [read_inspect_log(file)]
    elif is_samples_or_results(file):
        results = read_lmms_samples(file)
    elif file.suffix == ".jsonl" and _is_evalscope(file):
        results = [read_evalscope(file)]
    elif file.suffix in SUFFIXES and has_predictions(file):
        results = [read_vlmevalkit(file, model)]
    else:
        raise SourceError(f"{file}: expected {FORMATS}")
    for result in results:
        if not result.samples:
            raise SourceError(f"{file}: {result.task}: no sample to compare or audit")
    return results


def _is_evalscope(file: Path) -> bool:
    line = next(read_lines(file), None)
    return line is not None and is_review(line.entry)


def _is_inspect_json(file: Path) -> bool:
    if file.suffix != ".json" or zipfile.is_zipfile(file):
        return False
    with file.open("rb") as log_file:
        head = log_file.read(_HEAD)
    return b'"eval"' in head and b'"task"' in head and b'"version"' in head
