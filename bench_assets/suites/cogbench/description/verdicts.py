"""Reads a judge's verdicts on key points by position, as the authors' code does.

The careful reading goes by the printed number: ``core.numbered_verdicts``.
"""

import re

_OFFICIAL = re.compile(r"(?<!\d)\d++\.\s\[(\d++)\]")
_VERDICTS = {"0": False, "1": True}


def read_by_position(reply: str, n: int) -> list[bool | None]:
    """Read as the authors' cognition_gpt_eval.py does: the k-th match of "d. [d]" is of point k.

    The printed number is ignored, "1.[1]" and "1. [ ]" do not match, a reply that is one digit or
    starts with "[d]" is of point 1; what a judge thinks aloud is part of its reply. Where their
    code asks again, up to five times, and then leaves a hole, the points beyond the last match are
    None.

    >>> read_by_position("1. [ ] 2. [1]", 2), read_by_position("2. [0]  1. [1]", 2)
    ([True, None], [False, True])
    """
    text = reply.strip()
    if re.fullmatch(r"\d", text):
        found = [text]
    elif first := re.match(r"\[(\d)\]", text):
        found = [first[1]]
    else:
        found = _OFFICIAL.findall(text)
    return [_VERDICTS.get(verdict) for verdict in [*found[:n], *[""] * (n - len(found))]]
