"""Functions with words in them, where no tool can take them out."""

import re


def denies(text: str) -> bool:
    return re.search("no|not", text) is not None


def agrees(text: str) -> bool:
    return text in ("yes", "yeah")


def opens(text: str) -> bool:
    return text.startswith(("a ", "an "))


def blank(text: str) -> bool:
    return re.fullmatch(r"\s*", text) is not None and text != "yes"
