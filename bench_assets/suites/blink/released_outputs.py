r"""Imports the responses that the authors released, for ``bench evaluate blink --responses``.

    python -m bench_assets.suites.blink.released_outputs SAVED gpt4v/ --model GPT4V
    bench evaluate blink --responses gpt4v/GPT4V.jsonl --source gpt4v \
        --judge recorded --scorer as_released

SAVED is the folder of one run, with a file for each task, ``Art Style.json`` (or
``Art_Style.json.gz``): ``{"val": [...], "test": [...]}`` with rows of ``idx``, ``answer``,
``full_prediction`` and ``prediction``. ``prediction`` is imported as the judge's response. The key
is taken from the files, because runs on concatenated images have a different one.
"""

import argparse
import gzip
import json
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bench_assets.core.schema.errors import SourceError
from bench_assets.core.tables.json_records import Entry, require_field
from bench_assets.suites.blink.dataset import CONCATENATED_KEY, KEY

CONCATENATED = "concatenated_images"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedOutput:
    """A model's response to a validation question, with the authors' parsed answer."""

    idx: str  # "val_Jigsaw_12"
    answer: str  # "(A)"
    response: str
    extracted: str  # "(A)", "(Z)", "(C) Point C"


def read_outputs(folder: Path) -> list[SavedOutput]:
    """Read the validation rows of all files of one run, without hidden files.

    Raises:
        SourceError: If there is no such file, or one has another form; names file and row.
    """
    files = [*folder.glob("*.json"), *folder.glob("*.json.gz")]
    files = sorted(file for file in files if not file.name.startswith("."))
    if not files:
        raise SourceError(
            f"{folder}: no saved outputs, such as Art Style.json or Art_Style.json.gz"
        )
    return [output for file in files for output in _read_file(file)]


def write_import(
    outputs: Sequence[SavedOutput], folder: Path, *, model: str, condition: str = "main"
) -> Path:
    """Write a run's responses and answer key as a source folder; return the file of responses.

    Raises:
        SourceError: If the run is on concatenated images, and the folder lacks the main key.
    """
    if condition == CONCATENATED and not (folder / KEY).is_file():
        raise SourceError(f"{folder}: no {KEY}. Convert the run on separate images into it first")
    folder.mkdir(parents=True, exist_ok=True)
    key = {output.idx: output.answer for output in outputs}
    key_name = CONCATENATED_KEY if condition == CONCATENATED else KEY
    (folder / key_name).write_text(json.dumps(key, indent=1), encoding="utf-8")
    responses = folder / f"{quote(model, safe=' @+=')}.jsonl"
    lines = [
        {
            "question_id": f"blink/{output.idx}",
            "model": model,
            "condition": condition,
            "text": output.response,
            "judge_response": output.extracted,
        }
        for output in outputs
    ]
    responses.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return responses


def _read_file(file: Path) -> list[SavedOutput]:
    try:
        data = file.read_bytes()
        content = json.loads(gzip.decompress(data) if file.suffix == ".gz" else data)
        rows: list[Entry] = [{**row} for row in content["val"]]  # TypeError if not an object
    except (OSError, EOFError, zlib.error, ValueError, TypeError, KeyError, RecursionError) as exc:
        raise SourceError(f'{file}: cannot be read, expected {{"val": [...]}}: {exc}') from exc
    return [_parse_row(row, f"{file}, val, row {number}") for number, row in enumerate(rows, 1)]


def _parse_row(row: Entry, where: str) -> SavedOutput:
    return SavedOutput(
        idx=require_field(row, "idx", str, where),
        answer=require_field(row, "answer", str, where),
        response=require_field(row, "full_prediction", str, where),
        extracted=require_field(row, "prediction", str, where),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Import a run, by the arguments of the command; exit with a message if it is refused."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path, help="folder with the files of one run")
    parser.add_argument("out", type=Path, help="folder for the responses and the answer key")
    parser.add_argument("--model", required=True)
    parser.add_argument("--condition", default="main", choices=["main", CONCATENATED])
    args = parser.parse_args(arguments)
    try:
        outputs = read_outputs(args.run)
        print(write_import(outputs, args.out, model=args.model, condition=args.condition))
    except (OSError, SourceError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
