"""Reads pickles of plain data and NumPy arrays, and refuses anything that could run code.

What says how an array lies in memory can be forged so that reading the array ends the process. So
a pickle is read by a program of its own (``pickles_apart``), with limits and without NumPy.
"""

import json
import subprocess
import sys
from pathlib import Path

from bench_assets.core.schema.errors import SourceError

_APART = Path(__file__).with_name("pickle_subprocess.py")
_SECONDS = 60.0


def read_arrays(file: Path) -> object:
    """Read a pickle of lists, dictionaries, texts, numbers and arrays.

    Returns:
        Arrays as nested lists, tuples as lists, bytes as base64.

    Raises:
        SourceError: If it cannot be read, is no pickle, asks for anything else, or needs more
            memory or time than a table of poses does.
    """
    if not file.is_file():
        raise SourceError(f"{file}: cannot be read: no such file")
    try:
        with file.open("rb") as opened:
            apart = subprocess.run(
                [sys.executable, "-I", "-S", str(_APART)],
                stdin=opened,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
            )
    except OSError as why:
        raise SourceError(f"{file}: cannot be read: {why.strerror}") from why
    except subprocess.TimeoutExpired as why:
        raise SourceError(f"{file}: not read within {_SECONDS:g} s") from why
    if apart.returncode:
        said = apart.stderr.decode("utf-8", "replace").strip()
        why_not = said or f"reading it ended with the signal {-apart.returncode}"
        raise SourceError(f"{file}: not a pickle of plain data and arrays: {why_not[:300]}")
    try:
        return json.loads(apart.stdout)
    except (ValueError, RecursionError) as why:
        raise SourceError(f"{file}: not a pickle of plain data and arrays: {why}") from why
