"""What a check found out about a model, as a short block for people."""

from collections.abc import Iterator

from bench_assets.bench.printing import tell, tell_json
from bench_assets.core.tables import to_json
from resources.models.check import ModelCheck, Probed
from resources.models.loaded_model import Loaded

_LONGEST = 60  # characters of a reply
_LABEL = 20  # characters before a line's text


def print_check(check: ModelCheck, *, as_json: bool) -> None:
    """Print one model: as a JSON line, or a block that says first whether it may be evaluated."""
    if as_json:
        whole = {**to_json(check), "failures": check.failures}
        tell_json(whole)
        return
    tell(f"{check.model}: {'FAILED' if check.failures else 'ok'}")
    for label, text in _lines(check):
        tell(f"  {label:<{_LABEL}}{text}" if text else f"  {label}")


def _lines(check: ModelCheck) -> Iterator[tuple[str, str]]:
    if check.kind:
        yield "kind", f"{check.kind} {check.place}".strip()
    if check.error:
        yield "error", check.error
    if check.loaded:
        yield from _loaded(check.loaded)
    yield from _tried(check)
    if check.note:
        yield "note", check.note
    for one in check.probes:
        yield one.probe, _said(one)


def _tried(check: ModelCheck) -> Iterator[tuple[str, str]]:
    if check.image_tokens:
        tokens = (f"{size}: {count}" for size, count in check.image_tokens.items())
        yield "tokens a picture", ", ".join(tokens)
    if check.batch:
        yield "batch = alone", check.batch
    if check.reply_seconds is not None:
        load = "" if check.load_seconds is None else f"{check.load_seconds:.1f} to load, "
        yield "seconds", f"{load}{check.reply_seconds:.2f} a reply"


def _loaded(loaded: Loaded) -> Iterator[tuple[str, str]]:
    size = f"{_short(loaded.parameters)} parameters, {_short(loaded.memory)}B"
    yield "class", f"{loaded.class_name}, {loaded.dtype} on {loaded.device}, {size}"
    yield "context", "not said" if loaded.context is None else f"{loaded.context} tokens"
    yield "chat template", loaded.chat_template
    yield "thinking tags", ", ".join(loaded.thinking) or "none"
    card = loaded.generation_config
    yield (
        "generation_config",
        f'{card} (used with decoding = "card" only)' if card else "nothing that changes replies",
    )


def _said(one: Probed) -> str:
    if one.error:
        return f"{'FAILED' if one.failed else 'cannot'}: {one.error}"
    text = " ".join(one.reply.split())
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"{cut or '(nothing)'}{f' ({one.note})' if one.note else ''}"


def _short(number: int) -> str:
    """Write a number with a prefix of its size.

    >>> _short(3_754_644_480), _short(980)
    ('3.75 G', '980 ')
    """
    for factor, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= factor:
            return f"{number / factor:.2f} {prefix}"
    return f"{number} "
