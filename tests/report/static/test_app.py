"""What is pure in the page's modules, tested by Node's own runner."""

import subprocess
from pathlib import Path

import pytest

from tests.report.static.node import NO_NODE, NODE

FOLDER = Path(__file__).parent / "app"
FILES = sorted(FOLDER.rglob("*.test.js"))


@pytest.mark.skipif(not NODE, reason=NO_NODE)
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_a_module_does_what_its_tests_say(file: Path) -> None:
    done = subprocess.run([*NODE, "--test", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
