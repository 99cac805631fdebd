"""Ids of items that are several things at once: a picture and who wrote about it, say."""


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
