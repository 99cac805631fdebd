"""Engines over ``weights_server``, for the tests of servers that are started.

``python -m tests.resources.models.api.serving FOLDER LOGS OPTION...`` asks one question, prints
the response, and then waits until it is killed.
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


def serve_command(*options: str) -> str:
    """The entry ``serve`` of a section, with options of the stand-in."""
    return f"{sys.executable} -S {PROGRAM} {{path}} {{port}} name={{name}} {shlex.join(options)}"


def server_spec(folder: Path, *options: str, **fields: Any) -> ServerSpec:
    section = {"kind": "server", "path": str(folder), "serve": serve_command(*options)} | fields
    return ServerSpec.model_validate(section)


@contextmanager
def open_engine(folder: Path, logs: Path, *options: str, **fields: Any) -> Iterator[ServedEngine]:
    engine = ServedEngine(server_spec(folder, *options, **fields), "run/step", lambda _: b"", logs)
    try:
        yield engine
    finally:
        engine.close()


def responses_to(engine: ServedEngine, *texts: str) -> list[Response]:
    responses = dict(engine.stream([Request(prompt=Prompt.of(text)) for text in texts]))
    return [responses[position] for position in range(len(texts))]


if __name__ == "__main__":
    weights, logs, *options = sys.argv[1:]
    with open_engine(Path(weights), Path(logs), *options) as started_engine:
        (response,) = responses_to(started_engine, "?")
        sys.stdout.write(f"{response.text}\n")
        sys.stdout.flush()
        threading.Event().wait()
