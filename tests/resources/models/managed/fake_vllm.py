"""A stand-in for the command ``vllm``: a process that serves a folder over OpenAI's protocol.

It takes the options of ``vllm serve`` that bench writes and refuses all others, as vLLM's parser
does. What it answers, and how it misbehaves, are options of ``weights_server``.
"""

import argparse
import json
import shlex
import sys
from pathlib import Path

from tests.resources.models.api import weights_server

_COMMAND = """\
#!/bin/sh
PYTHONPATH={checkout} exec {python} -S -m {module} {options} -- "$@"
"""
_CHECKOUT = Path(__file__).parents[4]


def install(folder: Path, *options: str) -> Path:
    """Write the command ``vllm`` into a folder; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / "vllm"
    command.write_text(
        _COMMAND.format(
            checkout=shlex.quote(str(_CHECKOUT)),
            python=shlex.quote(sys.executable),
            module=__name__,
            options=shlex.join(options),
        ),
        encoding="utf-8",
    )
    command.chmod(0o755)
    return command


def main(arguments: list[str]) -> None:
    """Serve as ``vllm``; the option ``words=FILE`` writes the words of the command into a file.

    Args:
        arguments: Options of ``weights_server``, "--", and the words of the command.
    """
    separator = arguments.index("--")
    options = dict(pair.split("=", 1) for pair in arguments[:separator])
    words = arguments[separator + 1 :]
    if file := options.pop("words", ""):
        Path(file).write_text(json.dumps(words), encoding="utf-8")
    command = _parse_command(words)
    options = {"name": command.served_model_name or command.model, **options}
    pairs = [f"{name}={value}" for name, value in options.items()]
    weights_server.main(command.model, str(command.port), *pairs)


def _parse_command(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="vllm")
    serve = parser.add_subparsers(required=True).add_parser("serve")
    serve.add_argument("model")
    serve.add_argument("--host")
    serve.add_argument("--port", type=int, default=8000)
    serve.add_argument("--served-model-name")
    serve.add_argument("--dtype", choices=["auto", "bfloat16", "float16", "float32"])
    serve.add_argument("--generation-config", default="auto")
    for name in ("--tensor-parallel-size", "--data-parallel-size", "--max-model-len"):
        serve.add_argument(name, type=int)
    return parser.parse_args(words)


if __name__ == "__main__":
    main(sys.argv[1:])
