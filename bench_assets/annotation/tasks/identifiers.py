"""Ids of items that are several things at once: an image and who wrote about it, say.

Points in time as answers have them: texts that sort as time goes.
"""

from datetime import UTC, date, datetime, time


def item_id(*parts: str) -> str:
    """Make one id of several, from which ``parts_of`` gets them back.

    >>> item_id("cats/01.png", "writer 1")
    'cats%2F01.png/writer 1'
    """
    return "/".join(part.replace("%", "%25").replace("/", "%2F") for part in parts)


def parts_of(name: str) -> tuple[str, ...]:
    """Take apart what ``item_id`` made.

    >>> parts_of("cats%2F01.png/writer 1")
    ('cats/01.png', 'writer 1')
    """
    return tuple(part.replace("%2F", "/").replace("%25", "%") for part in name.split("/"))


def moment(when: datetime) -> str:
    """Write a point in time in UTC; one without a zone is in UTC.

    >>> moment(datetime(2026, 11, 22, 16, 5, 9, 120000))
    '2026-11-22T16:05:09.120Z'
    """
    zoned = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    return f"{zoned:%Y-%m-%dT%H:%M:%S}.{zoned.microsecond // 1000:03}Z"


def read_moment(text: str) -> str:
    """Read what ISO 8601 calls a point in time, and write it as ``moment`` does.

    Raises:
        ValueError: If it is none.

    >>> read_moment("2026-11-22T17:05:09+01:00")
    '2026-11-22T16:05:09.000Z'
    """
    return moment(datetime.fromisoformat(text))


def end_of(deadline: date) -> str:
    """The last moment of a deadline: of a day without a time, its last in UTC.

    >>> end_of(date(2026, 12, 24))
    '2026-12-24T23:59:59.999Z'
    """
    if isinstance(deadline, datetime):
        return moment(deadline)
    return moment(datetime.combine(deadline, time(23, 59, 59, 999000), UTC))
