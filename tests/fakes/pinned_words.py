"""Takes every alternative out of a reader's patterns and word lists: does its table notice?

A reader is a module of pure functions with its patterns and word lists beside them. To pin one, put
two things into a test of its suite: the modules that hold the words, and the table of responses
that the reader is tested with::

    from tests.fakes.pinned_words import inline_words, survivors

    READERS = [responses, verdicts]  # modules

    def test_no_word_of_the_readers_can_be_taken_out():
        assert survivors(READERS, FORMS, lambda form: read(form.response) == form.answer) == []

    def test_every_word_of_the_readers_can_be_found():
        assert inline_words(READERS) == []

``survivors`` names what can go without any row failing: each is a row that the table lacks (write
the response that needs the word, with what a person reads in it) or a word that no response needs
(take it out). There is no list of exceptions.

What is taken out, one at a time, of what the functions of a module use by a global name:

* a branch of a regular expression, at any depth: one of ``a``, ``b`` and ``c`` in ``x(?:a|b|c)``;
* a letter that a class lists: one of ``[张幅个]``, none of ``[A-H]`` or ``[.,;]``;
* an entry of a tuple, list, set or dict whose entries are of one kind: words, patterns, pairs.

What only composes a pattern is not taken out itself: the pattern is. Words inside of a function
cannot be found; ``inline_words`` names them, so that they are moved beside the others.
"""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from types import CodeType, FunctionType, ModuleType
from typing import TypeVar

from tests.fakes.words_of_patterns import mutants

Case = TypeVar("Case")
_MATCHES = {"compile", "search", "match", "fullmatch", "findall", "finditer", "split", "sub"}


def survivors(
    modules: Sequence[ModuleType],
    cases: Sequence[Case],
    holds: Callable[[Case], bool],
    n: int | None = None,
) -> list[str]:
    """Name each alternative without which every case still holds.

    Args:
        modules: Those with the words; other modules of ours may use them too.
        cases: The rows of the reader's table; rows for the words of one list are best neighbours.
        holds: Whether a row is read as it should be.
        n: Try only so many, always the same; where all of them take seconds, a test that is marked
            ``long`` tries them.

    Raises:
        AssertionError: If a case does not hold with all words in place.
    """
    if wrong := [case for case in cases if not _holds(case, holds)]:
        raise AssertionError(f"{len(wrong)} cases do not hold to begin with: {wrong[:3]}")
    left, start = [], 0
    alternatives = [
        (module, name, value, what, without)
        for module in modules
        for name, value in _used(module)
        for what, without in mutants(value)
    ]
    tried: Sequence[int] = range(len(alternatives))
    if n is not None and n < len(alternatives):
        tried = sorted(Random(0).sample(tried, n))
    for module, name, value, what, without in (alternatives[at] for at in tried):
        with _replaced(module, value, without):
            noticed = _first_failing(cases, holds, start)
        if noticed is None:
            left.append(f"{module.__name__}.{name}: {what}")
        else:
            start = noticed
    return left


def words_of(module: ModuleType) -> list[str]:
    """Name the patterns and word lists of a module's own that have something to take out."""
    tree = ast.parse(inspect.getsource(module))
    own = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    return [
        name
        for name, value in _used(module)
        if name in own and _has_text(value) and next(mutants(value), None)
    ]


def _has_text(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_text, [*value, *value.values()]))
    if isinstance(value, tuple | list | set | frozenset):
        return any(map(_has_text, value))
    return isinstance(value, str | re.Pattern)


def inline_words(modules: Sequence[ModuleType]) -> list[str]:
    """Name the lines in functions that have a pattern of several branches, or a list of words."""
    return [
        f"{module.__name__}, line {node.lineno}: give it a name outside of the function"
        for module in modules
        for function in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.expr) and _is_inline(node)
    ]


def _used(module: ModuleType) -> list[tuple[str, object]]:
    """List what the functions of a module use of its names."""
    functions = [f for f in vars(module).values() if isinstance(f, FunctionType)]
    wrapped = [getattr(f, "__wrapped__", None) for f in vars(module).values()]
    codes = [f.__code__ for f in [*functions, *wrapped] if isinstance(f, FunctionType)]
    names = {name for code in codes for name in _names(code)}
    return [(name, value) for name, value in vars(module).items() if name in names]


def _names(code: CodeType) -> set[str]:
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return set(code.co_names).union(*map(_names, inner))


@contextmanager
def _replaced(module: ModuleType, value: object, without: object) -> Iterator[None]:
    """Let every module of ours that has the value have the other one, with empty caches."""
    ours = [m for name, m in sys.modules.items() if name.startswith("bench_assets.")]
    places = [
        (m, name) for m in {*ours, module} for name, held in list(vars(m).items()) if held is value
    ]
    caches = [clear for m, _ in places for clear in _caches(m)]
    for holder, name in places:
        setattr(holder, name, without)
    try:
        for clear in caches:
            clear()
        yield
    finally:
        for holder, name in places:
            setattr(holder, name, value)
        for clear in caches:
            clear()


def _caches(module: ModuleType) -> list[Callable[[], None]]:
    return [f.cache_clear for f in vars(module).values() if hasattr(f, "cache_clear")]


def _first_failing(cases: Sequence[Case], holds: Callable[[Case], bool], start: int) -> int | None:
    """Find a case that does not hold, looking first where the last one was."""
    order: list[int] = [*range(start, len(cases)), *range(start)]
    for nth in order:
        if not _holds(cases[nth], holds):
            return nth
    return None


def _holds(case: Case, holds: Callable[[Case], bool]) -> bool:
    try:
        return holds(case)
    except Exception:  # noqa: BLE001  a reader that breaks has noticed, whatever it breaks with
        return False


def _is_inline(node: ast.expr) -> bool:
    """Whether an expression is a pattern of several branches, or a look-up in a list of words."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name), args=[text, *_]):
            return name in _MATCHES and "|" in ast.unparse(text)
        case ast.Call(func=ast.Attribute(attr="startswith" | "endswith"), args=[words]):
            return _are_words(words)
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[words]):
            return _are_words(words)
    return False


def _are_words(node: ast.expr) -> bool:
    entries = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
    return len(entries) > 1 and all(
        isinstance(one, ast.Constant) and isinstance(one.value, str) for one in entries
    )
