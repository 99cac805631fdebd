"""Logs of Inspect AI: ``.eval`` archives and ``.json`` files, format version 2.

An ``.eval`` file is a zip archive, compressed with Zstandard by newer versions. The log of an
interrupted evaluation has no header; its samples are read.
"""

import base64
import binascii
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from operator import itemgetter
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeAlias, cast

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import Entry, parse_object, read_object, require_field
from bench_assets.external_results.results import (
    UNPACKING_ERRORS,
    ExternalMetric,
    ExternalResults,
    ExternalSample,
    category_of,
    mean_of_points,
    require_bounded,
    shape_errors,
    to_number,
    to_text,
    unique_samples,
)

HARNESS = "Inspect AI"

_Placed: TypeAlias = tuple[str, dict[str, Any]]  # a sample with its place

_ZSTANDARD = 93  # method of a member of an archive, APPNOTE 6.3.8
_LOCAL_HEADER = 30  # bytes, before the name of a member
_ATTACHED = "attachment://"
_ERRORS = ("stderr", "bootstrap_stderr", "std", "var")  # uncertainties of other metrics
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Numbers of score values that are letters, after Inspect's ``value_to_float``."""
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""The same of words, in any case."""


def read_inspect_log(file: Path) -> ExternalResults:
    """Read a log.

    Raises:
        SourceError: If it is not a log of Inspect AI, or is damaged; says why.
    """
    header, samples = _archive(file) if zipfile.is_zipfile(file) else _document(file)
    evaluation = header.get("eval")
    if not isinstance(evaluation, dict) or "task" not in evaluation:
        raise SourceError(f"{file}: not a log of Inspect AI: no entry eval.task")
    results = header.get("results") or {}
    first = _first_score(samples)
    with shape_errors(f"{file}, results", HARNESS):
        scorer, key = _headline(results, first)
        metrics = _metrics(results)
    read = unique_samples((where, _sample(sample, scorer, key, where)) for where, sample in samples)
    status = str(header.get("status", "started"))
    with shape_errors(f"{file}, eval", HARNESS):
        n_all = (evaluation.get("dataset") or {}).get("samples")
        version = str((evaluation.get("packages") or {}).get("inspect_ai", ""))
    n_read = len({sample.sample_id for sample in read})
    coverage = f"{n_read} of {n_all} samples" if isinstance(n_all, int) and n_read < n_all else ""
    return ExternalResults(
        harness=HARNESS,
        version=version,
        task=str(evaluation.get("task_display_name") or evaluation["task"]),
        model=str(evaluation.get("model", "")) or "unknown",
        metrics=tuple(metrics or mean_of_points("mean", read)),
        samples=read,
        about=coverage or ("" if status == "success" else f"status {status}"),
    )


def _document(file: Path) -> tuple[Entry, list[_Placed]]:
    log = read_object(file)
    listed = require_field(log, "samples", list, str(file)) if log.get("samples") else []
    return log, [(f"{file}, sample {n}", sample) for n, sample in enumerate(listed, 1)]


def _archive(file: Path) -> tuple[Entry, list[_Placed]]:
    try:
        archive = zipfile.ZipFile(file)
    except UNPACKING_ERRORS as error:
        raise SourceError(f"{file}: cannot be unpacked: {error}") from error
    with archive:
        members = {info.filename: info for info in archive.infolist()}

        def member(name: str) -> dict[str, Any]:
            data = _content(file, archive, members[name])
            return parse_object(data.decode("utf-8", "replace"), f"{file}, {name}")

        heads = [name for name in ("header.json", "_journal/start.json") if name in members]
        if not heads:
            raise SourceError(f"{file}: not a log of Inspect AI: no header.json in it")
        names = [name for name in members if name.startswith("samples/")]
        return member(heads[0]), [(f"{file}, {name}", member(name)) for name in names]


def _content(file: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Read a member, also with Zstandard, which zipfile supports from Python 3.14 on."""
    try:
        require_bounded(info)
        if info.compress_type != _ZSTANDARD:
            return archive.read(info)
        import pyarrow as pa

        with file.open("rb") as opened:
            opened.seek(info.header_offset)
            lengths = struct.unpack("<HH", opened.read(_LOCAL_HEADER)[26:30])
            opened.seek(sum(lengths), 1)
            packed = pa.BufferReader(opened.read(info.compress_size))
        data = cast(bytes, pa.CompressedInputStream(packed, "zstd").read(info.file_size))
        if zlib.crc32(data) != info.CRC:
            raise zipfile.BadZipFile("its checksum differs")
        return data
    except (*UNPACKING_ERRORS, struct.error) as exc:
        raise SourceError(f"{file}, {info.filename}: cannot be unpacked: {exc}") from exc


def _first_score(samples: Iterable[_Placed]) -> str:
    for where, sample in samples:
        with shape_errors(where, HARNESS):
            for name in sample.get("scores") or ():
                return str(name)
    return ""


def _headline(results: Mapping[str, Any], first: str) -> tuple[str, str]:
    """Names of the scorer to read points from, and of its score."""
    headline = results.get("headline") or (results.get("scores") or [{}])[0]
    score = str(headline.get("score") or headline.get("name") or first)
    return str(headline.get("scorer") or score), score


def _metrics(results: Mapping[str, Any]) -> list[ExternalMetric]:
    """Every metric, the headline first; named by score and reducer if there are several."""
    scores = results.get("scores") or []
    headline = results.get("headline") or {}
    names, reducers = ({score.get(key) for score in scores} - {None} for key in ("name", "reducer"))
    summaries = []
    for score in scores:
        metrics = score.get("metrics") or {}
        at = (score.get("name"), score.get("reducer"))
        is_first = at == (headline.get("score"), headline.get("reducer"))
        first, _ = _metric_name(str(headline.get("metric")), metrics)
        for key, metric in metrics.items():
            name, category = _metric_name(key, metrics)
            parts = (at[0] if len(names) > 1 else "", name, at[1] if len(reducers) > 1 else "")
            value = to_number(metric.get("value"))
            if value is not None and key not in _ERRORS:
                full_name = "/".join(filter(None, parts))
                order = (not (is_first and name == first), category != "all")
                summaries.append(
                    (order, ExternalMetric(name=full_name, value=value, category=category))
                )
    return [metric for _, metric in sorted(summaries, key=itemgetter(0))]


def _metric_name(key: str, metrics: Mapping[str, Any]) -> tuple[str, str]:
    """Name and category of a metric; ``grouped`` writes one under the name of each category."""
    grouped = {
        k: str(metric["name"]) for k, metric in metrics.items() if metric.get("group") == "grouped"
    }
    if key in grouped and "all" in grouped.values():
        return str(metrics[key]["params"]["metric"]["name"]), grouped[key]
    return key, "all"


def _sample(found: Mapping[str, Any], scorer: str, key: str, where: str) -> ExternalSample:
    with shape_errors(where, HARNESS):
        if found.get("id") is None:
            raise SourceError(f"{where}: no id")
        return _parse_sample(found, scorer, key, where)


def _parse_sample(found: Mapping[str, Any], scorer: str, key: str, where: str) -> ExternalSample:
    attached = found.get("attachments") or {}
    prompt, images = _prompt(found, attached, where)
    scores = found.get("scores") or {}
    score: dict[str, Any] = scores.get(scorer) or next(iter(scores.values()), {})
    output = found.get("output") or {}
    error = found.get("error") or {}
    return ExternalSample(
        sample_id=str(found["id"]),
        draw=max(0, int(found.get("epoch") or 1) - 1),
        prompt=prompt,
        images=images,
        options=tuple(map(str, found.get("choices") or ())),
        target=_target(found),
        category=category_of(found.get("metadata") or {}),
        response=_completion(output, attached),
        answer=to_text(score.get("answer")),
        points=_points(value.get(key) if isinstance(value := score.get("value"), dict) else value),
        why=to_text(score.get("explanation")),
        error=str(error.get("message", "")) if isinstance(error, dict) else str(error),
    )


def _target(found: Mapping[str, Any]) -> tuple[str, ...]:
    """The right answers; of options, their letters."""
    target = found.get("target") or ()
    parts = tuple(map(str, target)) if isinstance(target, list) else (str(target),)
    n_options = len(found.get("choices") or ())
    if n_options and len(parts) == 1 and set(parts[0]) <= set(ascii_uppercase[:n_options]):
        return tuple(parts[0])
    return parts


def _points(value: object) -> float | None:
    if isinstance(value, str):
        return _GRADES.get(value, _WORDS.get(value.lower(), to_number(value)))
    return to_number(value)


def _completion(output: Mapping[str, Any], attached: Mapping[str, str]) -> str:
    choices = output.get("choices") or []
    content = (choices[0].get("message") or {}).get("content") if choices else None
    parts = content if isinstance(content, list) else [content or output.get("completion") or ""]
    return "".join(
        _resolve_attachment(part, attached)
        if isinstance(part, str)
        else str(part.get("text") or "")
        for part in parts
    )


def _prompt(
    found: Mapping[str, Any], attached: Mapping[str, str], where: str
) -> tuple[str, tuple[bytes, ...]]:
    """The prompt before the first response: texts, and images in reading order."""
    sent = found.get("messages") or found.get("input") or ""
    if isinstance(sent, str):
        return _resolve_attachment(sent, attached), ()
    texts: list[str] = []
    images: list[bytes] = []
    for message in sent:
        if message.get("role") == "assistant":
            break
        content = message.get("content") or ""
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part.get("type") == "text":
                texts.append(_resolve_attachment(str(part.get("text") or ""), attached))
            elif part.get("type") == "image":
                images += _image(_resolve_attachment(str(part.get("image") or ""), attached), where)
    return "\n".join(texts), tuple(images)


def _resolve_attachment(written: str, attached: Mapping[str, str]) -> str:
    """Resolve a text from the attachments of its sample."""
    if written.startswith(_ATTACHED):
        return attached.get(written.removeprefix(_ATTACHED), written)
    return written


def _image(address: str, where: str) -> list[bytes]:
    """Bytes of an image inside the log; empty for external images."""
    head, comma, data = address.partition(",")
    if not (comma and head.startswith("data:")):
        return []
    try:
        return [base64.b64decode(data, validate=True)]
    except binascii.Error as error:
        raise SourceError(f"{where}: an image is not base64: {error}") from error
