"""Engines over ``weights_server``, for the tests of servers that are started.

``python -m tests.resources.models.api.serving FOLDER SAID OPTION...`` asks one question, says the
response, and then waits until it is killed.
"""

import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench_assets.core.schema.chat import Prompt, Request, Response
from bench_resources.config.sections.servers import ServerSpec
from bench_resources.models.managed.engine import ServedEngine

PROGRAM = Path(__file__).with_name("weights_server.py")


def command(*options: str) -> str:
    return f"{sys.executable} -S {PROGRAM} {{path}} {{port}} name={{name}} {shlex.join(options)}"


def spec(folder: Path, *options: str, **fields: Any) -> ServerSpec:
    section = {"kind": "server", "path": str(folder), "serve": command(*options)} | fields
    return ServerSpec.model_validate(section)


@contextmanager
def engine(folder: Path, logs: Path, *options: str, **fields: Any) -> Iterator[ServedEngine]:
    served = ServedEngine(spec(folder, *options, **fields), "run/step", lambda _: b"", logs)
    try:
        yield served
    finally:
        served.close()


def responses_to(served: ServedEngine, *texts: str) -> list[Response]:
    responses = dict(served.stream([Request(prompt=Prompt.of(text)) for text in texts]))
    return [responses[position] for position in range(len(texts))]


if __name__ == "__main__":
    weights, log, *chosen = sys.argv[1:]
    with engine(Path(weights), Path(log), *chosen) as serving:
        sys.stdout.write(f"{responses_to(serving, '?')[0].text}\n")
        sys.stdout.flush()
        threading.Event().wait()
