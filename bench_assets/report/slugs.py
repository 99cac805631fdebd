"""Names of tasks and models as parts of file names and addresses."""

import re
from hashlib import sha256

_UNFIT = re.compile(r"[^a-z0-9]+")
_LETTERS = 40
_DIGITS = 8


def slug(name: str) -> str:
    """Make a name safe in a file name of any system: readable at first, unique by its end.

    Whatever the name is, its slug is short and has no dot, no slash, no capital letter; it is no
    name that a system keeps for itself, because it ends with a digest.

    >>> slug("journeybench/mcot")
    'journeybench-mcot-fa606a1c'
    """
    readable = _UNFIT.sub("-", name.lower())[:_LETTERS].strip("-")
    digest = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{readable}-{digest}" if readable else digest
