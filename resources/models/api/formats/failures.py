"""What stands beside a response and says that it is none: servers that fail as if all were well."""

from collections.abc import Mapping
from typing import Any

FAILED = {"failed", "failure", "fail", "error", "cancelled", "canceled", "aborted", "abort"}
"""Words for what came of a request that came to nothing."""

# Codes with which relays and vendors say that all is well, without noughts in front.
_WELL = {"", "1", "200", "1000", "10000", "20000", "ok", "success", "succeeded", "successful"}


def is_nothing(said: object) -> bool:
    """Whether nothing is said, however deep: relays in Go write an error that was none like that.

    >>> is_nothing({"message": "", "code": None, "details": [{}]}), is_nothing({"code": 7})
    (True, False)
    """
    if isinstance(said, dict):
        return all(map(is_nothing, said.values()))
    if isinstance(said, list):
        return all(map(is_nothing, said))
    return not (said.strip() if isinstance(said, str) else said)


def says_failure(received: Mapping[str, Any]) -> bool:
    """Whether the fields of a body say that it failed, in the words of relays and vendors.

    Beside a text they mean little. Beside none they say why there is none.

    >>> says_failure({"code": 500, "msg": "no"}), says_failure({"code": 0, "msg": "success"})
    (True, False)
    """
    minimax, status = received.get("base_resp"), received.get("status")
    codes = [received.get("code"), received.get("error_code")]
    codes += [minimax.get("status_code")] if isinstance(minimax, dict) else []
    return (
        any(map(_is_failure, codes))
        or received.get("success") in (False, "false")
        or (status.lower() in FAILED if isinstance(status, str) else _is_status(status))
        or not all(is_nothing(received.get(name)) for name in ("errors", "detail"))
    )


def _is_failure(code: object) -> bool:
    """Whether a code is none of those of success; what is no code at all says nothing."""
    known = isinstance(code, int | str) and not isinstance(code, bool)
    return known and str(code).strip().lower().lstrip("0") not in _WELL


def _is_status(said: object) -> bool:
    return isinstance(said, int) and 400 <= said < 600
