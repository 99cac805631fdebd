"""Parses the HTML of problems."""

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup


def parsed(html: str) -> "BeautifulSoup":
    """Parse HTML, whatever it is.

    As a file, since of a short text it is asked whether it could be the name of one, which ends in
    a UnicodeEncodeError for half a surrogate pair.
    """
    from bs4 import BeautifulSoup

    return BeautifulSoup(io.StringIO(html), "html.parser")
