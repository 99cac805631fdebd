"""Completion by typer: installed for bash, and asked in a bash as its tabulator key asks."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(sys.executable).with_name("bench")
CASES = (
    pytest.param(["evalu"], ["evaluate"], id="a command"),
    pytest.param(["models", ""], ["list", "check"], id="commands of a group"),
    pytest.param(["evaluate", "--accept", "re"], ["refused"], id="a value of an enumeration"),
)


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """Runs lines of bash in a home of a user who installed the completion."""
    environment = {**os.environ, "HOME": str(tmp_path_factory.mktemp("user"))}

    def run(script):
        lines = ["bash", "-c", f"{script}\ntrue"]  # two commands, else bash becomes the first
        done = subprocess.run(lines, env=environment, capture_output=True, text=True, check=True)
        return done.stdout

    assert "bash completion installed" in run(f"{BENCH} --install-completion")
    return run


@pytest.mark.parametrize(("words", "completed"), CASES)
def test_bash_completes(shell, words, completed):
    printed = shell(
        f"source ~/.bashrc; COMP_WORDS=({shlex.join(['bench', *words])}); COMP_CWORD={len(words)}\n"
        f"_bench_completion {BENCH}\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    assert printed.split() == completed


def test_a_process_that_completes_imports_nothing_that_takes_long(shell):
    environment = "_BENCH_COMPLETE=complete_bash COMP_WORDS='bench evalu' COMP_CWORD=1"
    timed = shell(f"{environment} {sys.executable} -X importtime {BENCH} 2>&1")
    imported = {line.rpartition("|")[2].strip() for line in timed.splitlines()}
    assert "bench_assets.cli.main" in imported
    heavy = {"torch", "transformers", "dagster", "pandas.core", "duckdb", "spacy"}
    assert imported & heavy == set()
