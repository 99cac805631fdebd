"""A class of one page's styles is none of another's: all are loaded together."""

import re
from pathlib import Path

STYLE = Path(__file__).parents[2] / "bench_assets/report/static/style"
_ALONE = re.compile(r"(?:^|})\s*\.([a-z][\w-]*)\s*[{,:]", re.MULTILINE)  # whatever it stands in


def test_no_class_is_styled_by_two_files():
    files: dict[str, set[str]] = {}
    for file in STYLE.glob("*.css"):
        for name in _ALONE.findall(file.read_text(encoding="utf-8")):
            files.setdefault(name, set()).add(file.name)
    assert {name: sorted(found) for name, found in files.items() if len(found) > 1} == {}
