import io
import json
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from bench_assets.core.schema.published_numbers import read_published
from bench_assets.core.schema.rows import Score, StoredImage
from bench_assets.core.tables.json_records import read_entries, read_lines, records
from bench_assets.file_benchmarks.questions import benchmark_location, build
from bench_resources.annotation.files import FileBackend
from bench_resources.checkpoints.adapters import base_of
from bench_resources.checkpoints.files import loaded_files, tensor_spans
from bench_resources.checkpoints.identity import fingerprint
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.sections.benchmarks import FileBenchmarkSettings
from bench_resources.datasets.archives import unpack
from bench_resources.datasets.cache import ReleaseCache
from bench_resources.images.store import ImageStore
from bench_resources.models.registry.recorded import (
    RecordedResponse,
    group_by_model,
    read_responses,
)
from bench_resources.tables.parquet import TableFiles
from tests.annotation.answers.test_validation import FORM
from tests.fakes.checkpoint_files import safetensors, write_adapter, write_checkpoint
from tests.fakes.written_images import saved
from tests.faults.readers.reader import from_file, row

_RESPONSE = b'{"question_id": "t/1", "text": "x", "model": "m", "sample": 0}'
_ROW = {"id": "1", "question": "Which?", "options": ["red", "blue"], "answer": "A", "image": ""}
_CSV = b"id,question,A,B,answer\n1,Which?,red,blue,A\n2,What?,up,down,B\n"
_TOML = b"""[models.m]
kind = "server"
base_url = "http://127.0.0.1:8/v1"
model = "m"
max_tokens = 7
[suites.codis]
judge = "rules"
[benchmarks.quiz]
file = "q.jsonl"
[checkpoints]
folders = ["runs"]
"""


def _file_benchmark(name: str) -> Callable[[bytes, Path], object]:
    """A reader that builds a benchmark of one file."""

    def build_benchmark(file: Path) -> object:
        benchmark = FileBenchmarkSettings(file=file)
        settings = Settings(home=file.parent, benchmarks={"quiz": benchmark})
        store = ImageStore(folder=str(file.parent / "images"))
        return build(
            benchmark,
            benchmark_location("quiz", file, settings),
            lambda image, image_name: (
                store.put_file(image, image_name)
                if isinstance(image, Path)
                else store.put(image, image_name)
            ),
        )

    return from_file(name, build_benchmark)


def _no_image(image: Path | bytes, name: str) -> StoredImage:
    raise AssertionError(f"{name} is no image of the data set")


def _saved_dataset_reader(name: str) -> Callable[[bytes, Path], object]:
    """A reader of a folder that ``datasets`` saved, of which one file is the input."""

    def read(data: bytes, folder: Path) -> object:
        saved = folder / "saved"
        saved.mkdir(exist_ok=True)
        (saved / "state.json").write_bytes(_STATE)
        (saved / "data.arrow").write_bytes(_arrow())
        shutil.copytree(saved, saved / "train")
        (saved / name).write_bytes(data)
        benchmark = FileBenchmarkSettings(file=saved)
        settings = Settings(home=folder, benchmarks={"quiz": benchmark})
        return build(benchmark, benchmark_location("quiz", saved, settings), _no_image)

    return read


def _checkpoint_reader(name: str) -> Callable[[bytes, Path], object]:
    """A reader of a checkpoint, of which one file is the input."""

    def read(data: bytes, folder: Path) -> object:
        checkpoint = folder / "checkpoint"
        if not checkpoint.exists():
            write_checkpoint(checkpoint)
        (checkpoint / name).write_bytes(data)
        return loaded_files(checkpoint), fingerprint(checkpoint)

    return read


def _read_adapter(data: bytes, folder: Path) -> object:
    checkpoint = write_adapter(folder / "checkpoint")
    (checkpoint / "adapter_config.json").write_bytes(data)
    return base_of(checkpoint), fingerprint(checkpoint)


def _read_annotations(data: bytes, folder: Path) -> object:
    """Read answers of annotators from a file of an annotation tool."""
    backend = FileBackend(folder)
    backend.ask(FORM, [])
    next(folder.rglob("task.json")).with_name("answers.jsonl").write_bytes(data)
    return backend.answers(FORM)


def _read_table(data: bytes, folder: Path) -> object:
    tables = TableFiles(folder=str(folder))
    file = tables.path(["t"])
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data)
    tables.digest(["t"])
    return tables.read(["t"], Score)


def _scores() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            Score(question_id=f"{n}", model="m", condition="main", points=1.0) for n in range(9)
        ]
        return Path(TableFiles(folder=folder).write(["t"], rows, Score)).read_bytes()


def _arrow() -> bytes:
    data = io.BytesIO()
    table = pa.Table.from_pylist([_ROW])
    with pa.ipc.new_stream(data, table.schema) as stream:
        stream.write_table(table)
    return data.getvalue()


def _parquet() -> bytes:
    data = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([_ROW]), data)
    return data.getvalue()


def _zip() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("a/b.txt", "x" * 99)
        archive.writestr("a/c.txt", "y")
    return data.getvalue()


def _tar(mode: str) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode=mode) as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo("a/b.txt")
        member.size = 4
        archive.addfile(member, io.BytesIO(b"1234"))
    return data.getvalue()


def _image(form: str) -> bytes:
    return saved(Image.linear_gradient("L").resize((8, 8)).convert("RGB"), form)


_STATE = json.dumps({"_data_files": [{"filename": "data.arrow"}], "_split": None}).encode()
_FETCHED = json.dumps({"address": "hf:a/b@main", "commit": "", "n_bytes": 1, "files": {"a": "b"}})
_PUBLISHED = (
    b"task,model,condition,metric,category,value,printed,source,note\nt,m,main,a,all,.5,50,p,\n"
)


FILES = [
    row("bench.toml", "bytes", from_file("bench.toml", lambda file: load_settings(file.parent)),
         _TOML),
    row("a file of responses", "lines", from_file("responses.jsonl", lambda file: group_by_model(
        read_responses(file), "m")), _RESPONSE),
    row("records of JSON lines", "lines", from_file("r.jsonl", lambda file: records(
        read_lines(file), RecordedResponse, closed=True, unique=["question_id"])), _RESPONSE),
    row("records of a JSON list", "json", from_file("r.json", lambda file: records(
        read_entries(file), RecordedResponse)), b"[%s]" % _RESPONSE),
    *(
        row(f"a plain benchmark of {name}", kind, _file_benchmark(f"q.{name}"), *seeds)
        for name, kind, seeds in (
            ("jsonl", "lines", (json.dumps(_ROW).encode(),)),
            ("json", "json", (json.dumps([_ROW]).encode(),)),
            ("csv", "bytes", (_CSV,)),
            ("tsv", "bytes", (_CSV.replace(b",", b"\t"),)),
            ("parquet", "bytes", (_parquet(),)),
            ("arrow", "bytes", (_arrow(),)),
        )
    ),
    row("state.json of a saved data set", "json", _saved_dataset_reader("state.json"), _STATE),
    row("dataset_dict.json of a saved data set", "json",
         _saved_dataset_reader("dataset_dict.json"), b'{"splits": ["train"]}'),
    row("data.arrow of a saved data set", "bytes", _saved_dataset_reader("data.arrow"), _arrow()),
    row("answers of people", "lines", _read_annotations,
         b'{"unit": "u", "person": "ana", "values": {"right": "yes", "which": ["a"]}}'),
    row("published.csv", "bytes", from_file("published.csv", read_published), _PUBLISHED),
    row("safetensors, tensor_spans", "bytes", from_file("m.safetensors", tensor_spans),
         safetensors(b"1234")),
    row("safetensors of a checkpoint", "bytes", _checkpoint_reader("model.safetensors"),
         safetensors(b"1234")),
    row("the index of a checkpoint", "json", _checkpoint_reader("model.safetensors.index.json"),
         b'{"weight_map": {"w": "model.safetensors"}}'),
    row("adapter_config.json", "json", _read_adapter,
         b'{"peft_type": "LORA", "base_model_name_or_path": "a/b"}'),
    row("a zip", "bytes", from_file("a.zip", unpack), _zip()),
    row("a tar", "bytes", from_file("a.tar", unpack), _tar("w")),
    row("a tar.gz", "bytes", from_file("a.tar.gz", unpack), _tar("w:gz")),
    row("a tar.bz2", "bytes", from_file("a.tar.bz2", unpack), _tar("w:bz2")),
    row("a tar.xz", "bytes", from_file("a.tar.xz", unpack), _tar("w:xz")),
    *(
        row(f"an image, {form}", "bytes",
             lambda data, folder: ImageStore(folder=str(folder)).put(data, "x"), _image(form))
        for form in ("PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP")
    ),
    row("a table of ours", "bytes", _read_table, _scores()),
    row("the record of a release", "json", from_file(
        "sources/quiz/abc/fetched.json",
        lambda file: ReleaseCache(file.parents[3]).all()), _FETCHED.encode()),
]  # fmt: skip
