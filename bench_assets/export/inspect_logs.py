"""Inspect AI evaluation logs.

A question without a response is a sample with an error and no score; if the judge failed, a sample
has no score. Points are not normalised: ``max_points`` of a sample is the maximum.
"""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any

from bench_assets.core.images.decoding import to_plain_format
from bench_assets.core.schema.chat import Image, Turn
from bench_assets.core.schema.errors import ImageError
from bench_assets.core.schema.rows import Metric
from bench_assets.export.samples import (
    ExportSample,
    as_json,
    blind_baselines,
    items,
    none_if_nan,
    unread_bounds,
)
from bench_assets.workspace.inspect.table_collection import ModelResponses, TableCollection
from bench_resources.images.store import ImageStore
from bench_resources.storage.atomic_write import open_atomic

_VERSION = 2
_DIGITS = 32  # of an attachment's name
_STOPS = {"length": "max_tokens", "content_filter": "content_filter"}


def write_inspect_logs(
    gathered: TableCollection, image_store: ImageStore, out: Path, *, embed: bool = False
) -> list[Path]:
    """Write a log for each model and condition, with images inside if ``embed`` is set.

    Raises:
        HomeError: If a log cannot be written.
    """
    written = []
    for evaluation in gathered.evaluations():
        written.append(out / log_name(evaluation))
        images = LogImages(image_store, gathered.left_out, embed=embed)
        with open_atomic(written[-1]) as file:
            file.writelines(write_log(evaluation, images))
    return written


@dataclass(frozen=True, slots=True)
class LogImages:
    """Addresses of a log's images: files of the home, or attachments."""

    image_store: ImageStore
    lost: list[str]  # collects images that cannot be read
    embed: bool = False

    def of(self, item: ExportSample) -> dict[str, str]:
        """Attachments of a sample: images as data addresses, by name."""
        if not self.embed:
            return {}
        by_model = {}
        for image in item.prompt.images:
            try:
                by_model[image.sha256[:_DIGITS]] = _data_address(
                    self.image_store.read(image.sha256)
                )
            except ImageError as error:
                self.lost.append(f"{item.question.question_id}: {error}")
        return by_model

    def address(self, sha256: str, attached: dict[str, str]) -> str:
        """Address of an image: its attachment, or its place in the image store."""
        name = sha256[:_DIGITS]
        return f"attachment://{name}" if name in attached else self.image_store.place.where(sha256)


def log_name(one: ModelResponses) -> str:
    """Name of a log's file, which begins with a time, as Inspect requires."""
    task = one.name.replace("/", "-")
    return f"{one.asked_at:%Y-%m-%dT%H-%M-%S+00-00}_{task}_{_id(one)}.json"


def write_log(one: ModelResponses, images: LogImages) -> Iterator[bytes]:
    """Write a log, sample by sample."""
    yield f'{as_json(header(one))[:-1]}, "samples": ['.encode()
    for number, item in enumerate(items(one)):
        yield f"{',' if number else ''}\n{as_json(sample(item, one.scorer, images))}".encode()
    yield b"\n]}\n"


def header(one: ModelResponses) -> dict[str, Any]:
    """The log without its samples."""
    at = one.asked_at.isoformat()
    ids = list(dict.fromkeys(row.question_id for row in one.predictions))
    signature = one.primary.signature if one.primary else ""
    return {
        "version": _VERSION,
        "status": "success",
        "eval": {
            "eval_id": _id(one),
            "run_id": _id(one),
            "created": at,
            "task": one.name,
            "task_id": _id(one),
            "task_version": one.task.version,
            "task_args": {"condition": one.condition},
            "tags": [f"{one.exam.edition} edition"],
            "dataset": {
                "name": f"{one.task.name} ({one.exam.edition} edition)",
                "samples": len(ids),
                "sample_ids": ids,
                "shuffled": False,
            },
            "model": one.model,
            "model_args": {},
            "config": {"epochs": max((row.sample for row in one.predictions), default=0) + 1},
            "packages": {"bench-assets": version("bench-assets")},
            "metadata": {"edition": one.exam.edition, "signature": signature},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": _results(one),
        "stats": {"started_at": at, "completed_at": at, "model_usage": {}},
    }


def sample(item: ExportSample, scorer: str, images: LogImages) -> dict[str, Any]:
    """One sample of one question."""
    prediction, question = item.prediction, item.question
    attached = images.of(item)
    messages = [_message(turn, images, attached) for turn in item.prompt.turns]
    fields: dict[str, Any] = {
        "id": question.question_id,
        "epoch": prediction.sample + 1,
        "input": messages,
        "choices": list(question.options) or None,
        "target": list(question.answer),
        "messages": messages,
        "output": {"model": prediction.model, "choices": []},
        "scores": {},
        "metadata": item.about,
        "attachments": attached,
    }
    if prediction.error:
        error = {"message": prediction.error, "traceback": "", "traceback_ansi": ""}
        return {**fields, "error": error}
    response = {"role": "assistant", "content": prediction.text or "\n".join(prediction.ranking)}
    fields |= {"messages": [*messages, response], "output": _output(item, response)}
    if prediction.raw_text not in ("", prediction.text):
        fields["metadata"] = {**item.about, "raw_text": prediction.raw_text}
    if item.points is None:
        return {**fields, "metadata": {**fields["metadata"], "unscored": item.explanation}}
    return {**fields, "scores": {scorer: _score(item)}}


def _score(item: ExportSample) -> dict[str, Any]:
    assert item.score
    return {
        "value": item.points,
        "answer": ", ".join(item.score.answer),
        "explanation": item.explanation,
        "metadata": {"max_points": item.score.max_points, "judge": item.score.judge},
    }


def _output(item: ExportSample, response: dict[str, str]) -> dict[str, Any]:
    prediction = item.prediction
    stop = _STOPS.get(prediction.finish_reason, "stop")
    output: dict[str, Any] = {
        "model": prediction.model,
        "choices": [{"message": response, "stop_reason": stop}],
        "time": prediction.seconds,
    }
    if prediction.prompt_tokens is not None and prediction.completion_tokens is not None:
        output["usage"] = {
            "input_tokens": prediction.prompt_tokens,
            "output_tokens": prediction.completion_tokens,
            "total_tokens": prediction.prompt_tokens + prediction.completion_tokens,
        }
    return output


def _message(turn: Turn, images: LogImages, attached: dict[str, str]) -> dict[str, Any]:
    parts = [
        {"type": "image", "image": images.address(part.sha256, attached)}
        if isinstance(part, Image)
        else {"type": "text", "text": part}
        for part in turn.parts
    ]
    return {"role": turn.role, "content": parts}


def _results(one: ModelResponses) -> dict[str, Any] | None:
    """All metrics with a value; those of slices have the slice in their name."""
    if not one.metrics:
        return None
    measured = {_name(row): _metric(row) for row in one.metrics if not isnan(row.value)}
    done = sum(not row.error for row in one.predictions)
    score = {"name": one.scorer, "scorer": one.scorer, "params": {}, "metrics": measured}
    return {
        "total_samples": len(one.predictions),
        "completed_samples": done,
        "scores": [score],
    }


def _name(row: Metric) -> str:
    return row.metric if row.category == "all" else f"{row.metric}/{row.category}"


def _metric(row: Metric) -> dict[str, Any]:
    metadata = {
        "low": none_if_nan(row.low),
        "high": none_if_nan(row.high),
        "n_scored": row.n_scored,
        "n_unscored": row.n_unscored,
        "n_failed": row.n_failed,
        **blind_baselines(row),
        **unread_bounds(row),
        "signature": row.signature,
    }
    return {"name": _name(row), "value": row.value, "params": {}, "metadata": metadata}


def _id(one: ModelResponses) -> str:
    identity = json.dumps([one.name, one.model, one.exam.edition, one.asked_at.isoformat()])
    return hashlib.sha256(identity.encode()).hexdigest()[:22]


def _data_address(data: bytes) -> str:
    media, plain_image = to_plain_format(data)
    return f"data:{media};base64,{base64.b64encode(plain_image).decode()}"
