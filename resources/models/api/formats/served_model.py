"""Served model: the model name in responses."""

import logging
import re

from resources.models.api.formats.response_body import NoResponseError

_log = logging.getLogger("bench_assets.server")
_SHOWN = 100  # characters of a name that are kept
_VERSION = re.compile(r"[-@:_](latest|v?\d{3,}(-\d+)*)$")


class ServedModelCheck:
    """Takes down which model answered, and says once that it is another than was asked.

    What is only a version of the one that was asked is taken down and not said.
    """

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self._said = False

    def note(self, answered: object) -> str:
        """What to keep beside a response.

        "" where a server names the model that was asked, or none.

        Raises:
            NoResponseError: If what should be a name is no text.
        """
        if answered in (None, self._asked, f"{self._asked}@main"):  # as `transformers serve` does
            return ""
        if not isinstance(answered, str):
            raise NoResponseError("the name of the model that answered is no text")
        name = "".join(filter(str.isprintable, answered[:_SHOWN])).strip()
        if not (self._said or is_version(name, self._asked)):
            self._said = True
            _log.warning("asked for the model %s, answered by %s", self._asked, name)
        return f"answered by {name}" if name else ""


def is_version(answered: str, asked: str) -> bool:
    """Whether the model that answered is the one that was asked, with a date or a number added.

    >>> is_version("gpt-4o-2024-08-06", "gpt-4o"), is_version("gpt-4o-mini", "gpt-4o")
    (True, False)
    >>> is_version("gpt-4o-2024-08-06", "gpt-4o-2024-05-13"), is_version("llama3:latest", "llama3")
    (False, True)
    """
    named, wanted = _without_folder(answered), _without_folder(asked).removesuffix("-latest")
    return wanted in (named, _VERSION.sub("", named))


def _without_folder(name: str) -> str:
    return name.rpartition("/")[2].lower()
