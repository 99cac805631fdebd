import json
from pathlib import Path

from bench_assets.core.schema.chat import Decoding
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.tables.parquet import TableFiles
from tests.bundles.shelf import RESPONSES, SequenceModel, measure
from tests.bundles.test_requirements import EchoEngine
from tests.fakes.stores import response_file

CHECKOUT = Path(__file__).parents[2]
_SETTINGS = """
[benchmarks.shelf]
file = "shelf.jsonl"
title = "A shelf"
slices = ["level"]

[models.written]
kind = "recorded"
file = "said.jsonl"
"""


def make_home(home: Path) -> TableFiles:
    """Measure two models: one of a file of responses, one that left only cached responses."""
    home.mkdir(parents=True)
    (home / "bench.toml").write_text(_SETTINGS, encoding="utf-8")
    rows = [{"question_id": f"shelf/{n}", "text": text} for n, text in enumerate(RESPONSES)]
    (home / "said.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    echo = EchoEngine("sha256:gone", Decoding(max_tokens=40))
    removed = CachingModel("gone/step-1", echo, response_file(home / "responses.sqlite"))
    measure(home, model=removed)
    return measure(home, model=SequenceModel(name="written", signature="recorded|said.jsonl"))
