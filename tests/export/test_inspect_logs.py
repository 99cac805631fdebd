"""Logs of Inspect, read back by its own reader where it is installed: pip install inspect-ai."""

import base64
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bench_assets.export.inspect_logs import log_name
from bench_resources.images.store import ImageStore
from tests.export.measured_home import MODEL, leaving, write

WRITE = partial(write, "inspect")
_WITHOUT = "inspect_ai is not installed: pip install inspect-ai"


@pytest.fixture
def read(shown):
    """Write the log of the quiz, and read it back."""
    reader = pytest.importorskip("inspect_ai.log", reason=_WITHOUT)

    def written(*, images=False):
        (path,) = WRITE(leaving(shown, shown / "out", images=images))
        (listed,) = reader.list_eval_logs(str(path.parent))
        return reader.read_eval_log(listed, resolve_attachments=images)

    return written


def samples(home):
    (path,) = WRITE(leaving(home, home / "out"))
    return json.loads(path.read_text(encoding="utf-8"))["samples"]


def test_what_failed_has_an_error_and_no_score(home):
    assert [len(one["scores"]) for one in samples(home)] == [1, 1, 0, 1]
    assert [one.get("error", {}).get("message") for one in samples(home)] == [
        *(None, None),
        *("the server did not answer", None),
    ]


def test_a_log_is_named_by_when_the_responses_came_so_that_a_second_export_is_the_same(home):
    (one,) = leaving(home, home / "out").gathered.evaluations()
    assert log_name(one).startswith(f"{one.asked_at:%Y-%m-%dT%H-%M-%S}+00-00_quiz_")
    assert WRITE(leaving(home, home / "out")) == WRITE(leaving(home, home / "out"))


def test_inspect_reads_what_was_measured(read):
    log = read()
    assert (log.status, log.eval.task, log.eval.model) == ("success", "quiz", MODEL)
    assert log.eval.dataset.name == "quiz (mini edition)"
    assert log.eval.metadata["signature"].startswith("quiz|v3|main|")
    (score,) = log.results.scores
    assert {name: metric.value for name, metric in score.metrics.items()} == {"accuracy": 1 / 3}
    assert (log.results.total_samples, log.results.completed_samples) == (4, 3)


def test_inspect_reads_each_sample(read):
    first, _, failed, _ = read().samples
    assert (first.id, first.epoch, first.target, first.output.completion) == (
        *("quiz/0", 1),
        *(["A"], "A"),
    )
    assert (first.scores["exact"].value, first.scores["exact"].answer) == (1.0, "A")
    assert first.input[1].content[1].text.startswith("What is 0? =1+1")
    assert (failed.error.message, failed.scores) == ("the server did not answer", {})


def test_images_are_the_files_of_the_home(read, shown):
    shown_to = read().samples[1].input[1].content
    assert Path(shown_to[0].image).read_bytes()[:4] == b"\x89PNG"
    assert shown_to[0].image == shown_to[1].image


def test_images_lie_in_the_log_where_an_option_says_so(read):
    image = read(images=True).samples[1].input[1].content[0].image
    head, _, data = image.partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data)[:4] == b"\x89PNG"


def test_images_that_are_objects_always_lie_in_the_log(shown):
    (shown / "images").rename(shown / "objects")
    (shown / "shared").mkdir()
    (shown / "objects").rename(shown / "shared" / "images")
    objects: dict[str, Any] = {"objects": f"file://{shown}/shared"}
    image_store = ImageStore(folder=str(shown / "cache" / "images"), **objects)
    (path,) = WRITE(replace(leaving(shown, shown / "out"), image_store=image_store))
    sample = json.loads(path.read_text(encoding="utf-8"))["samples"][1]
    named = sample["input"][1]["content"][0]["image"]
    assert sample["attachments"][named.removeprefix("attachment://")].startswith("data:image/png")


def test_a_lost_image_is_reported_and_ends_nothing(shown):
    (file,) = [path for path in (shown / "images").rglob("*") if path.is_file()]
    file.unlink()
    leaves = leaving(shown, shown / "out", images=True)
    (path,) = WRITE(leaves)
    (image, _) = json.loads(path.read_text(encoding="utf-8"))["samples"][0]["input"][1]["content"]
    assert image["image"] == str(ImageStore(folder=str(shown / "images")).path(file.stem))
    assert leaves.gathered.left_out[0].startswith("quiz/0: no image")
