"""Which of the servers that others announce can be asked from here, and are what was meant."""

import http.client
import logging
from collections.abc import Iterable
from time import monotonic
from urllib.parse import urlsplit

from resources.server.listed_models import other_weights
from resources.server.started import Asked

_log = logging.getLogger("bench_assets.server")
_ANSWER = 2.0  # s; longest wait for one
_LATE = "no answer in time"
_MOST_LATE = 5  # looks in a row without an answer in time, as of one that has much to do
_AGAIN = 10.0  # s until one is looked at again that could not be asked
_MOST_BYTES = 1 << 20


class Announced:
    """Looks at announced addresses, again and again; one that cannot be asked is told once."""

    def __init__(self, asked: Asked, again: float = _AGAIN, within: float = _ANSWER) -> None:
        """Say what they are to be.

        Args:
            asked: What they are to answer and to have; the path is that of the weights here.
            again: s until one is looked at again that could not be asked.
            within: s; longest wait for an answer.
        """
        self._asked = asked
        self._again = again
        self._within = within
        self._late: dict[str, int] = {}  # those that can be asked -> looks without an answer
        self._not_before: dict[str, float] = {}  # s on the monotonic clock; also: who was told of

    def those_of(self, addresses: Iterable[str]) -> list[str]:
        """Those of the addresses that can be asked, in their order."""
        good = {one: late for one in addresses if (late := self._look(one)) < _MOST_LATE}
        self._late = good
        return list(good)

    def _look(self, address: str) -> int:
        """How many looks in a row a server has not answered in time; the most for one to leave."""
        if monotonic() < self._not_before.get(address, 0.0):
            return _MOST_LATE
        is_known = address in self._late
        why = why_not(address, self._asked, self._within, is_known=is_known)
        if not why:
            return 0
        if why == _LATE and is_known and (late := self._late[address] + 1) < _MOST_LATE:
            return late
        if address not in self._not_before:
            _log.warning("%s is announced, but not asked: %s", address, why)
        self._not_before[address] = monotonic() + self._again
        return _MOST_LATE


def why_not(address: str, asked: Asked, within: float = _ANSWER, *, is_known: bool = False) -> str:
    """Why a server cannot be asked from here, or is not what was meant; "" if nothing is wrong.

    Args:
        address: As it is announced: ``http://node-a:4000/v1``.
        asked: What it is to answer and to have.
        within: s; longest wait for an answer.
        is_known: It was asked which models it has, and is there as long as it says it is well.
    """
    try:
        status, _ = _get(address, asked.health, within)
        has_page = status not in (404, 405)
        if has_page and status != 200:
            return f"HTTP {status}"
        if is_known:
            return ""
        status, body = _get(address, "/v1/models", within)
        if not has_page and status != 200:
            return f"HTTP {status}"
        other = other_weights(body, asked.model, asked.path)
    except TimeoutError:
        return _LATE
    except (OSError, http.client.HTTPException, ValueError) as why:  # ValueError: no address
        return str(why) or type(why).__name__
    return f"it says that {asked.model} is {other}, not {asked.path}" if other else ""


def _get(address: str, page: str, within: float) -> tuple[int, bytes]:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=within)
    try:
        connection.request("GET", page)
        answer = connection.getresponse()
        return answer.status, answer.read(_MOST_BYTES)
    finally:
        connection.close()
