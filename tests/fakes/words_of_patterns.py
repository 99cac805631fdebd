"""What is left of a pattern or a list when one of its alternatives is taken out."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

_GROUP = re.compile(r"\((?:\?(?:P<\w+>|<[=!]|[:=!>]|[aiLmsux-]+:|\(\w+\)))?")
_FLAGS = re.compile(r"(?:\(\?[aiLmsux]+\))?")
_LETTER = r"(?:\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|\\.|[^\\])"
_ITEM = re.compile(rf"{_LETTER}(?:-{_LETTER})?", re.DOTALL | re.IGNORECASE)  # of a class
_NEVER = "(?!)"  # put before a branch, it keeps the numbers of the groups


def branches(pattern: str) -> list[tuple[int, int]]:
    r"""Find where each branch of each alternation stands.

    >>> [r"x(?:a|[|]b)"[start:end] for start, end in branches(r"x(?:a|[|]b)")]
    ['a', '[|]b']
    """
    opening = _FLAGS.match(pattern)
    first = opening.end() if opening else 0
    depths: list[list[int]] = [[first]]  # of each open group, where its branches begin
    found: list[tuple[int, int]] = []
    for at, token in _tokens(pattern, first):
        if token == "|":
            depths[-1].append(at + 1)
        elif token == ")":
            found += _closed(depths.pop(), at)
        elif token[0] == "(":
            depths.append([at + len(token)])
    return sorted(found + _closed(depths.pop(), len(pattern)))


def _closed(starts: list[int], end: int) -> list[tuple[int, int]]:
    ends = [start - 1 for start in starts[1:]] + [end]
    return list(zip(starts, ends, strict=True)) if len(starts) > 1 else []


def _tokens(pattern: str, at: int) -> Iterator[tuple[int, str]]:
    """Cut a pattern into escapes, classes, openings of groups, and single characters."""
    while at < len(pattern):
        if pattern[at] == "\\":
            token = pattern[at : at + 2]
        elif pattern[at] == "[":
            token = pattern[at : _class_end(pattern, at)]
        elif pattern[at] == "(":
            opening = _GROUP.match(pattern, at)
            token = opening[0] if opening else "("
        else:
            token = pattern[at]
        yield at, token
        at += len(token)


def _class_end(pattern: str, at: int) -> int:
    at += 2 if pattern[at + 1] == "^" else 1
    at += pattern[at] == "]"
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _listed_letters(pattern: str) -> Iterator[tuple[str, str]]:
    """Say which letters the classes of a pattern list, and write it without one of them."""
    for at, token in _tokens(pattern, 0):
        items = _ITEM.findall(token[1:-1]) if token[0] == "[" else []
        for nth, item in enumerate(items):
            if len(items) > 1 and len(item) == 1 and item.isalnum():
                rest = "".join(items[:nth] + items[nth + 1 :])
                less = f"{pattern[:at]}[{rest}]{pattern[at + len(token) :]}"
                yield f"without {item!r} in {token}", less


def _of_pattern(pattern: re.Pattern[str]) -> Iterator[tuple[str, object]]:
    if pattern.flags & re.VERBOSE:
        raise AssertionError(f"{pattern.pattern!r}: patterns with blanks and comments are not read")
    text = pattern.pattern
    texts = [
        (f"without {text[start:end]!r} in {text[:60]!r}", f"{text[:start]}{_NEVER}{text[start:]}")
        for start, end in branches(text)
    ]
    for what, without in [*texts, *_listed_letters(text)]:
        yield what, re.compile(without, pattern.flags & ~re.UNICODE)


def mutants(value: object) -> Iterator[tuple[str, object]]:
    """Say what is taken out of a value, and give the value without it."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):  # bytes are no words
            yield from _of_pattern(value)
    elif isinstance(value, Mapping):
        for key in value:
            yield f"without {key!r}", {one: value[one] for one in value if one != key}
            for what, without in mutants(value[key]):
                yield f"{key!r}: {what}", {**value, key: without}
    elif isinstance(value, Collection) and type(value) in (tuple, list, set, frozenset):
        yield from _of_list(value)


def _of_list(value: Collection[object]) -> Iterator[tuple[str, object]]:
    made: Callable[[Sequence[object]], object] = type(value)
    entries = sorted(value, key=repr) if isinstance(value, set | frozenset) else list(value)
    for nth, entry in enumerate(entries):
        if len({type(one) for one in entries}) == 1:
            yield f"without {entry!r:.80}", made(entries[:nth] + entries[nth + 1 :])
        for what, without in mutants(entry):
            yield f"{nth}: {what}", made([*entries[:nth], without, *entries[nth + 1 :]])
