"""Griffe extension of the documentation site: doctests are shown as code."""

import re
from typing import Any

from griffe import Extension, Object

_DOCTEST = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?P=indent)\S.*)*", re.MULTILINE)


class Doctests(Extension):
    """Fences the doctests of every docstring."""

    def on_object(self, *, obj: Object, **_: Any) -> None:  # noqa: ANN401 - griffe's own arguments
        """Put a fence around each block of doctests, and out of the section that it ends."""
        if obj.docstring:
            obj.docstring.value = _DOCTEST.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    return f"\n{found['indent']}```pycon\n{found[0]}\n{found['indent']}```\n"
