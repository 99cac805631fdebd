"""Logs of Inspect AI: ``.eval`` archives and ``.json`` files, format version 2.

An ``.eval`` file is a zip archive, compressed with Zstandard by newer versions. The log of an
interrupted evaluation has no header; its samples are read.
"""

import base64
import binascii
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
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

_LocatedSample: TypeAlias = tuple[str, dict[str, Any]]  # where it is, and the sample

_ZSTANDARD = 93  # compression method of a zip entry (APPNOTE 6.3.8)
_LOCAL_HEADER = 30  # bytes of a zip entry before its name
_LOCAL_LENGTHS = slice(26, 30)  # bytes of that header: lengths of the name and an extra field
_HEADERS = ("header.json", "_journal/start.json")  # the latter of an interrupted evaluation
_ATTACHED = "attachment://"
_UNCERTAINTIES = ("stderr", "bootstrap_stderr", "std", "var")  # uncertainties of other metrics
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Numbers of score values that are letters, after Inspect's ``value_to_float``."""
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""The same of words, in any case."""


def read_inspect_log(file: Path) -> ExternalResults:
    """Read a log.

    Raises:
        SourceError: If it is not a log of Inspect AI, or is damaged; says why.
    """
    header, samples = _read_archive(file) if zipfile.is_zipfile(file) else _read_document(file)
    evaluation = header.get("eval")
    if not isinstance(evaluation, dict) or "task" not in evaluation:
        raise SourceError(f"{file}: not a log of Inspect AI: no entry eval.task")
    results = header.get("results") or {}
    first_score = _first_score(samples)
    with shape_errors(f"{file}, results", HARNESS):
        scorer, score_name = _headline(results, first_score)
        metrics = _metrics(results)
    external_samples = unique_samples(
        (where, _sample(sample, scorer, score_name, where)) for where, sample in samples
    )
    status = str(header.get("status", "started"))
    with shape_errors(f"{file}, eval", HARNESS):
        n_all = (evaluation.get("dataset") or {}).get("samples")
        version = str((evaluation.get("packages") or {}).get("inspect_ai", ""))
    n_read = len({sample.sample_id for sample in external_samples})
    coverage = f"{n_read} of {n_all} samples" if isinstance(n_all, int) and n_read < n_all else ""
    return ExternalResults(
        harness=HARNESS,
        version=version,
        task=str(evaluation.get("task_display_name") or evaluation["task"]),
        model=str(evaluation.get("model", "")) or "unknown",
        metrics=tuple(metrics or mean_of_points("mean", external_samples)),
        samples=external_samples,
        partial=coverage or ("" if status == "success" else f"status {status}"),
    )


def _read_document(file: Path) -> tuple[Entry, list[_LocatedSample]]:
    """Header and samples of a ``.json`` file, which is its own header."""
    log = read_object(file)
    samples = require_field(log, "samples", list, str(file)) if log.get("samples") else []
    return log, [(f"{file}, sample {n}", sample) for n, sample in enumerate(samples, 1)]


def _read_archive(file: Path) -> tuple[Entry, list[_LocatedSample]]:
    try:
        archive = zipfile.ZipFile(file)
    except UNPACKING_ERRORS as error:
        raise SourceError(f"{file}: cannot be unpacked: {error}") from error
    with archive:
        members = {member.filename: member for member in archive.infolist()}
        header = next((members[name] for name in _HEADERS if name in members), None)
        if header is None:
            raise SourceError(f"{file}: not a log of Inspect AI: no header.json in it")
        return _read_member(file, archive, header), [
            (f"{file}, {name}", _read_member(file, archive, member))
            for name, member in members.items()
            if name.startswith("samples/")
        ]


def _read_member(file: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Entry:
    text = _unpack(file, archive, member).decode("utf-8", "replace")
    return parse_object(text, f"{file}, {member.filename}")


def _unpack(file: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Read a member, also with Zstandard, which zipfile supports from Python 3.14 on."""
    try:
        require_bounded(member)
        if member.compress_type != _ZSTANDARD:
            return archive.read(member)
        import pyarrow as pa

        with file.open("rb") as log_file:
            log_file.seek(member.header_offset)
            lengths = struct.unpack("<HH", log_file.read(_LOCAL_HEADER)[_LOCAL_LENGTHS])
            log_file.seek(sum(lengths), os.SEEK_CUR)
            packed = pa.BufferReader(log_file.read(member.compress_size))
        data = cast(bytes, pa.CompressedInputStream(packed, "zstd").read(member.file_size))
        if zlib.crc32(data) != member.CRC:
            raise zipfile.BadZipFile("its checksum differs")
        return data
    except (*UNPACKING_ERRORS, struct.error) as error:
        raise SourceError(f"{file}, {member.filename}: cannot be unpacked: {error}") from error


def _first_score(samples: Iterable[_LocatedSample]) -> str:
    """Name of the first score of any sample; "" if none is scored."""
    for where, sample in samples:
        with shape_errors(where, HARNESS):
            for name in sample.get("scores") or ():
                return str(name)
    return ""


def _headline(results: Mapping[str, Any], first_score: str) -> tuple[str, str]:
    """Names of the scorer to read points from, and of its score."""
    scores = results.get("scores") or [{}]
    headline = results.get("headline") or scores[0]
    score = str(headline.get("score") or headline.get("name") or first_score)
    return str(headline.get("scorer") or score), score


def _metrics(results: Mapping[str, Any]) -> list[ExternalMetric]:
    """Numbers of the scores, the headline first; names have the score and reducer if several."""
    scores = results.get("scores") or []
    headline = results.get("headline") or {}
    names = {score.get("name") for score in scores} - {None}
    reducers = {score.get("reducer") for score in scores} - {None}
    headlines, others = list[ExternalMetric](), list[ExternalMetric]()
    for score in scores:
        score_name, reducer = score.get("name"), score.get("reducer")
        has_headline = (score_name, reducer) == (headline.get("score"), headline.get("reducer"))
        prefix = score_name if len(names) > 1 else ""
        suffix = reducer if len(reducers) > 1 else ""
        metrics = score.get("metrics") or {}
        headline_name, _ = _metric_name(str(headline.get("metric")), metrics)
        for key, metric in metrics.items():
            name, category = _metric_name(key, metrics)
            value = to_number(metric.get("value"))
            if value is None or key in _UNCERTAINTIES:
                continue
            full_name = "/".join(filter(None, (prefix, name, suffix)))
            group = headlines if has_headline and name == headline_name else others
            group.append(ExternalMetric(name=full_name, value=value, category=category))
    for group in (headlines, others):
        group.sort(key=lambda metric: metric.category != "all")
    return headlines + others


def _metric_name(key: str, metrics: Mapping[str, Any]) -> tuple[str, str]:
    """Name and category of a metric; ``grouped`` writes it under the name of each category."""
    categories = {
        grouped_key: str(metric["name"])
        for grouped_key, metric in metrics.items()
        if metric.get("group") == "grouped"
    }
    if key in categories and "all" in categories.values():
        return str(metrics[key]["params"]["metric"]["name"]), categories[key]
    return key, "all"


def _sample(sample: Entry, scorer: str, score_name: str, where: str) -> ExternalSample:
    with shape_errors(where, HARNESS):
        if sample.get("id") is None:
            raise SourceError(f"{where}: no id")
        attachments = sample.get("attachments") or {}
        prompt, images = _prompt(sample, attachments, where)
        scores = sample.get("scores") or {}
        score: dict[str, Any] = scores.get(scorer) or next(iter(scores.values()), {})
        value = score.get("value")
        error = sample.get("error") or {}
        return ExternalSample(
            sample_id=str(sample["id"]),
            draw=max(0, int(sample.get("epoch") or 1) - 1),
            prompt=prompt,
            images=images,
            options=tuple(map(str, sample.get("choices") or ())),
            target=_target(sample),
            category=category_of(sample.get("metadata") or {}),
            response=_completion(sample.get("output") or {}, attachments),
            answer=to_text(score.get("answer")),
            points=_points(value.get(score_name) if isinstance(value, dict) else value),
            explanation=to_text(score.get("explanation")),
            error=str(error.get("message", "")) if isinstance(error, dict) else str(error),
        )


def _target(sample: Mapping[str, Any]) -> tuple[str, ...]:
    """The right answers; of options, their letters; none without a target."""
    target = sample.get("target") or []
    answers = tuple(map(str, target)) if isinstance(target, list) else (str(target),)
    n_options = len(sample.get("choices") or ())
    if n_options and len(answers) == 1 and set(answers[0]) <= set(ascii_uppercase[:n_options]):
        return tuple(answers[0])
    return answers


def _points(value: object) -> float | None:
    if isinstance(value, str) and value in _GRADES:
        return _GRADES[value]
    if isinstance(value, str) and value.lower() in _WORDS:
        return _WORDS[value.lower()]
    return to_number(value)


def _completion(output: Mapping[str, Any], attachments: Mapping[str, str]) -> str:
    choices = output.get("choices") or []
    content = (choices[0].get("message") or {}).get("content") if choices else None
    parts = content if isinstance(content, list) else [content or output.get("completion") or ""]
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(_resolve_attachment(part, attachments))
        else:
            texts.append(str(part.get("text") or ""))
    return "".join(texts)


def _prompt(
    sample: Mapping[str, Any], attachments: Mapping[str, str], where: str
) -> tuple[str, tuple[bytes, ...]]:
    """The prompt before the first response: texts, and images in reading order."""
    messages = sample.get("messages") or sample.get("input") or ""
    if isinstance(messages, str):
        return _resolve_attachment(messages, attachments), ()
    texts: list[str] = []
    images: list[bytes] = []
    for message in messages:
        if message.get("role") == "assistant":
            break
        content = message.get("content") or ""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part.get("type") == "text":
                texts.append(_resolve_attachment(str(part.get("text") or ""), attachments))
            elif part.get("type") == "image":
                address = _resolve_attachment(str(part.get("image") or ""), attachments)
                images += _embedded_image(address, where)
    return "\n".join(texts), tuple(images)


def _resolve_attachment(text: str, attachments: Mapping[str, str]) -> str:
    """The attachment of the sample to which a text refers; other texts unchanged."""
    if text.startswith(_ATTACHED):
        return attachments.get(text.removeprefix(_ATTACHED), text)
    return text


def _embedded_image(address: str, where: str) -> list[bytes]:
    """Bytes of an image inside the log; empty for external images."""
    head, comma, data = address.partition(",")
    if not (comma and head.startswith("data:")):
        return []
    try:
        return [base64.b64decode(data, validate=True)]
    except binascii.Error as error:
        raise SourceError(f"{where}: an image is not base64: {error}") from error
