"""Recognises the harness of a file by its content, and reads its results."""

import zipfile
from pathlib import Path

from bench_assets.core.schema.errors import SourceError
from bench_assets.external_results.inspect_logs import read_inspect_log
from bench_assets.external_results.lmms_eval import read_lmms_samples
from bench_assets.external_results.results import ExternalResults
from bench_assets.external_results.vlmevalkit import SUFFIXES, read_vlmevalkit

_KINDS = (
    "a log of Inspect AI (.eval or .json), samples of lmms-eval (*_samples_TASK.jsonl beside"
    " *_results.json), or a file of VLMEvalKit (MODEL_DATASET.xlsx)"
)
_HEAD = 1 << 16  # bytes that are searched for the keys of an Inspect AI log


def read_external_results(file: Path) -> list[ExternalResults]:
    """Read the results of another harness; all tasks of lmms-eval's ``results.json``.

    Raises:
        SourceError: If the format is unknown, or the file is damaged.
    """
    if not file.is_file():
        raise SourceError(
            f"{file}: {'a folder' if file.is_dir() else 'no such file'}; give {_KINDS}"
        )
    if file.suffix == ".eval" or _is_inspect_json(file):
        found = [read_inspect_log(file)]
    elif file.name.endswith("results.json") or (
        file.suffix == ".jsonl" and "samples_" in file.name
    ):
        found = read_lmms_samples(file)
    elif file.suffix in SUFFIXES:
        found = [read_vlmevalkit(file)]
    else:
        raise SourceError(f"{file}: expected {_KINDS}")
    for one in found:
        if not one.samples:
            raise SourceError(f"{file}: {one.task}: no sample in it; nothing to compare or audit")
    return found


def _is_inspect_json(file: Path) -> bool:
    if file.suffix != ".json" or zipfile.is_zipfile(file):
        return False
    with file.open("rb") as opened:
        head = opened.read(_HEAD)
    return b'"eval"' in head and b'"task"' in head and b'"version"' in head
