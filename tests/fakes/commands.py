"""Runs commands of bench in this process."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from bench_assets.cli.main import app


def bench(*arguments: object, fails: bool = False, code: int | None = None) -> Result:
    """Run a command; require success, a failure, or an exit code."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    is_expected = (result.exit_code != 0) == fails if code is None else result.exit_code == code
    assert is_expected, result.output
    return result


def file_contents(folder: Path) -> dict[Path, bytes]:
    """The files below a folder, with their content."""
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def lines(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def write_responses(file: Path, responses: Sequence[object]) -> Path:
    file.write_text("\n".join(json.dumps(response) for response in responses))
    return file


def answers(*texts: str, **fields: object) -> list[dict[str, object]]:
    names = ("000/1", "000/2", "001/1", "001/2")
    return [
        {"question_id": f"codis/{name}", "text": text, **fields}
        for name, text in zip(names, texts, strict=False)
    ]
