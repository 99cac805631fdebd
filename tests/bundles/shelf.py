"""A home in which a small plain benchmark was measured, without Dagster; and bundles of it."""

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from PIL import Image

from bench_assets.bundles.archive import ArchiveFile, pack
from bench_assets.bundles.contents import MANIFEST_NAME, FileFacts, read_manifest
from bench_assets.bundles.packing import BundleOptions, PackedBundle, pack_number
from bench_assets.bundles.rescoring import stored_runner
from bench_assets.core.schema.chat import ChatModel, Request, Response
from bench_assets.core.schema.rows import Judgement, Metric, Prediction, Question, Score
from bench_assets.core.schema.signature import format_judge_setup
from bench_assets.evaluation import pipeline
from bench_assets.evaluation.readers import ask_reader, unread_responses
from bench_assets.evaluation.runner import Runner, StoredResponses, StoredVerdicts
from bench_assets.evaluation.suite import Suite
from bench_assets.evaluation.task import Evaluation, Task
from bench_assets.file_benchmarks.suite import task_of
from bench_assets.workspace.inspect.table_collection import TableCollection, TableFilter
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.images.store import ImageStore
from bench_resources.tables.parquet import TableFiles
from tests.fakes.rows import question

SECTION = {"file": "/somebody/shelf.jsonl", "title": "A shelf", "slices": ["level"]}
BENCHMARK = FileBenchmarkSettings.model_validate(SECTION)
TASK = task_of("shelf", BENCHMARK, "bench.toml, [benchmarks.shelf]")
SUITE = Suite(name="shelf", tasks=(TASK,), assets=tuple)
RESPONSES = ("A", "B", "Answer: B.", "no idea")  # right, wrong, right, wrong


def image() -> bytes:
    """An image of 8 x 6 px."""
    file = io.BytesIO()
    Image.new("RGB", (8, 6), "green").save(file, "PNG")
    return file.getvalue()


def exam(images: Sequence[str] = ()) -> list[Question]:
    """Four choices, two of them about an image."""
    return [
        question(
            question_id=f"shelf/{n}",
            task="shelf",
            kind="choice",
            text=f"Which of the {n}?\u2028 \u202e",
            options=("left", "right"),
            answer=(right,),
            images=tuple(images) if n < 2 else (),
            labels={"level": "hard" if n % 2 else "easy", "author": "Ö"},
        )
        for n, right in enumerate("AABA")
    ]


class Says:
    """Says its responses, one after the other."""

    name, signature = "somebody", "sha256:0123|t=0,max=40"

    def __init__(self, responses: Sequence[str] = RESPONSES, **named: str) -> None:
        self._said = responses
        self.name = named.get("name", type(self).name)
        self.signature = named.get("signature", type(self).signature)

    def response(self, requests: Sequence[Request]) -> list[Response]:
        return [Response(text=text) for _, text in zip(requests, self._said, strict=True)]


class Right(Says):
    """A reader that finds the first option in everything."""

    def __init__(self) -> None:
        super().__init__((), name="judge")

    def response(self, requests: Sequence[Request]) -> list[Response]:
        self._said = ["A"] * len(requests)
        return super().response(requests)


def judged(
    questions: Sequence[Question], predictions: Sequence[Prediction], reader: ChatModel | None
) -> list[Judgement]:
    """Judge by a reader, or without one by rules."""
    if reader is None:
        rows = list(pipeline.judge(TASK, questions, predictions, None))
    else:
        rows = ask_reader(unread_responses(TASK, questions, predictions), reader, "reader:judge")
    setup = format_judge_setup("reader" if reader else "rules", "0c" if reader else "")
    return [replace(row, setup=setup) for row in rows]


def measure(
    home: Path,
    responses: Sequence[str] = RESPONSES,
    model: ChatModel | None = None,
    judge: ChatModel | None = None,
) -> TableFiles:
    """Write the tables of one evaluation, as the graph would; None: rules judge it."""
    model = model or Says(responses)
    images = ImageStore(folder=str(home / "images"))
    questions = exam([images.put(image(), "a.png").sha256])
    predictions = pipeline.predict(TASK, questions, model)
    judgements = judged(questions, predictions, judge)
    again = Runner(
        task=TASK,
        responses=StoredResponses(predictions),
        judge=StoredVerdicts(judgements),
    ).run(questions)
    tables = TableFiles(folder=str(home / "tables"))
    tables.write(["shelf", "questions"], questions, Question)
    for name, rows, row_type in (
        ("predictions", predictions, Prediction),
        ("judgements", judgements, Judgement),
        ("scores", again.scores, Score),
        ("metrics", again.metrics, Metric),
    ):
        tables.write(["shelf", name], rows, row_type, model.name)
    return tables


def rescore(
    task: Task,
    questions: Sequence[Question],
    predictions: Sequence[Prediction],
    judgements: Sequence[Judgement] = (),
) -> Evaluation:
    """What is stored, evaluated again."""
    stored = Evaluation(
        task=task,
        model="somebody",
        condition="main",
        questions=questions,
        predictions=predictions,
        judgements=judgements,
        scores=[],
        metrics=[],
    )
    return stored_runner(task, stored, "").run(questions)


def packed(home: Path, target: Path, **chosen: Any) -> PackedBundle:
    """Pack what was measured there."""
    tables = TableFiles(folder=str(home / "tables"))
    (one,) = TableCollection(tables, TableFilter([TASK])).evaluations()
    beside = {
        "suite": SUITE,
        "benchmark": BENCHMARK,
        "image_store": ImageStore(folder=str(home / "images")),
        "find_prompt": lambda sha256: None,
        "passed_on": True,
        "images": True,
    }
    return pack_number(one, BundleOptions(**{**beside, **chosen}), target)


def files_in(bundle: Path) -> dict[str, bytes]:
    """What lies in a bundle, by name."""
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def repacked(bundle: Path, files: dict[str, bytes], *, checksummed: bool = False) -> Path:
    """Write other files into a bundle; ``checksummed`` with digests that fit them."""
    if checksummed:
        about = read_manifest(files_in(bundle)[MANIFEST_NAME], "before")
        facts = {
            name: FileFacts(sha256=sha256(data).hexdigest(), n_bytes=len(data))
            for name, data in files.items()
            if name != MANIFEST_NAME
        }
        files = files | {
            MANIFEST_NAME: about.model_copy(update={"files": facts}).checksummed().to_bytes()
        }
    pack([ArchiveFile(name, partial(bytes, data)) for name, data in files.items()], bundle)
    return bundle


def with_line(
    files: dict[str, bytes],
    name: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
) -> dict[str, bytes]:
    """Change the first line of a table."""
    first, *others = files[name].splitlines(keepends=True)
    changed = json.dumps(change(json.loads(first)), separators=(",", ":")).encode() + b"\n"
    return files | {name: b"".join([changed, *others])}
