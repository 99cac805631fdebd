"""A home of one small benchmark, to be reproduced."""

import json
from pathlib import Path

from bench_assets.core.schema.chat import Decoding
from bench_resources.response_cache.caching_model import CachingModel
from bench_resources.tables.parquet import TableFiles
from tests.bundles.shelf import RESPONSES, Says, measure
from tests.bundles.test_requirements import Echo
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
    """Two models: one whose responses lie in a file, one of which only the responses remain."""
    home.mkdir(parents=True)
    (home / "bench.toml").write_text(_SETTINGS, encoding="utf-8")
    lines = [{"question_id": f"shelf/{n}", "text": text} for n, text in enumerate(RESPONSES)]
    (home / "said.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    echo = Echo("sha256:gone", Decoding(max_tokens=40))
    gone = CachingModel("gone/step-1", echo, response_file(home / "responses.sqlite"))
    measure(home, model=gone)
    return measure(home, model=Says(name="written", signature="recorded|said.jsonl"))
