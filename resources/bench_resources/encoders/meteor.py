"""METEOR 1.5: the Java program inside pycocoevalcap, started once per corpus."""

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bench_assets.core.extras import package_folder, require_extra
from bench_assets.core.schema.errors import ModelError

METEOR_VERSION = "1.5"
_JAR = "meteor-1.5.jar"
_OPTIONS = ("-", "-", "-stdio", "-l", "en", "-norm")
_SEPARATOR = " ||| "  # of the fields of a line
_MEMORY = "-Xmx2G"  # the paraphrase tables need more than 1 GB


class MeteorScores(NamedTuple):
    """METEOR of a corpus and of each caption, in [0, 1]."""

    corpus: float
    per_caption: list[float]


def missing_meteor() -> str:
    """Missing requirement of METEOR; "" if it is available."""
    if _jar() is None:
        return "pycocoevalcap is not installed"
    return "" if shutil.which("java") else "Java is not installed"


def meteor(captions: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]]) -> MeteorScores:
    """Score tokenized captions, each with its references.

    The program takes some 5 s to start and 1.5 GB of memory.

    Raises:
        MissingExtraError: If the program is missing.
        ModelError: If Java is missing, or the program fails.
    """
    require_extra("METEOR", "pycocoevalcap")
    if missing := missing_meteor():
        raise ModelError(f"METEOR: {missing}")
    jar = _jar()
    assert jar is not None  # or it would be missing
    command = ["java", "-jar", _MEMORY, str(jar), *_OPTIONS]
    with subprocess.Popen(
        command,
        cwd=jar.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    ) as program:
        try:
            return _score_captions(program, captions)
        except (BrokenPipeError, ValueError) as error:
            raise ModelError(
                f"METEOR: {jar} ended early or printed unexpected output: {error}"
            ) from error
        finally:
            program.kill()
            assert program.stdin
            with suppress(BrokenPipeError):  # a program that has ended did not read all of it
                program.stdin.close()


def _score_captions(
    program: "subprocess.Popen[str]",
    captions: Sequence[tuple[Sequence[str], Sequence[Sequence[str]]]],
) -> MeteorScores:
    """Collect the statistics of each caption, and score them together."""
    statistics = [
        _send_line(program, "SCORE", *map(_join_tokens, references), _join_tokens(candidate))
        for candidate, references in captions
    ]
    first_line = _send_line(program, "EVAL", *statistics)
    scores = [float(first_line), *(float(_read_line(program)) for _ in captions)]
    *caption_scores, corpus_score = scores
    return MeteorScores(corpus_score, caption_scores)


def _send_line(program: "subprocess.Popen[str]", *fields: str) -> str:
    """Send the fields of a line; returns the first line of the response."""
    assert program.stdin
    line = _SEPARATOR.join(fields)
    program.stdin.write(f"{line}\n")
    program.stdin.flush()
    return _read_line(program)


def _read_line(program: "subprocess.Popen[str]") -> str:
    assert program.stdout
    return program.stdout.readline().strip()


def _join_tokens(tokens: Sequence[str]) -> str:
    return " ".join(token for token in tokens if token != _SEPARATOR.strip())


def _jar() -> Path | None:
    folder = package_folder("pycocoevalcap")
    return folder / "meteor" / _JAR if folder else None
