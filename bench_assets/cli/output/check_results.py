"""Terminal output of model checks."""

from collections.abc import Iterator

from bench_assets.core.tables.arrow import to_json
from bench_assets.workspace.console.output import print_json_result, print_result
from bench_resources.models.registry.loaded_model import LoadedCheckpoint
from bench_resources.models.registry.model_check import ModelCheck, ProbeResult

_MAX_RESPONSE_LENGTH = 60  # characters
_LABEL = 20  # characters; width of the label column


def print_check(check: ModelCheck, *, as_json: bool) -> None:
    """Print one model: as a JSON line, or a block that begins with the verdict."""
    if as_json:
        payload = {**to_json(check), "failures": check.failures}
        print_json_result(payload)
        return
    print_result(f"{check.model}: {'FAILED' if check.failures else 'ok'}")
    for label, text in _lines(check):
        print_result(f"  {label:<{_LABEL}}{text}" if text else f"  {label}")


def _lines(check: ModelCheck) -> Iterator[tuple[str, str]]:
    if check.kind:
        yield "kind", f"{check.kind} {check.place}".strip()
    if check.error:
        yield "error", check.error
    if check.loaded:
        yield from _checkpoint_lines(check.loaded)
    yield from _probe_lines(check)
    if check.note:
        yield "note", check.note
    for probe in check.probes:
        yield probe.probe, _probe_text(probe)


def _probe_lines(check: ModelCheck) -> Iterator[tuple[str, str]]:
    if check.response_seconds is not None:
        load = "" if check.load_seconds is None else f"{check.load_seconds:.1f} to load, "
        yield "seconds", f"{load}{check.response_seconds:.2f} per response"


def _checkpoint_lines(loaded: LoadedCheckpoint) -> Iterator[tuple[str, str]]:
    size = f"{_short(loaded.parameters)} parameters, {_short(loaded.memory)}B"
    yield "class", f"{loaded.class_name}, {loaded.dtype} on {loaded.device}, {size}"
    yield "context", "unknown" if loaded.context is None else f"{loaded.context} tokens"
    yield "chat template", loaded.chat_template
    yield "thinking tags", ", ".join(loaded.thinking) or "none"


def _probe_text(one: ProbeResult) -> str:
    if one.error:
        return f"{'FAILED' if one.failed else 'cannot'}: {one.error}"
    text = " ".join(one.response.split())
    cut = text if len(text) <= _MAX_RESPONSE_LENGTH else f"{text[: _MAX_RESPONSE_LENGTH - 1]}…"
    return f"{cut or '(nothing)'}{f' ({one.note})' if one.note else ''}"


def _short(number: int) -> str:
    """Format a number with an SI prefix.

    >>> _short(3_754_644_480), _short(980)
    ('3.75 G', '980 ')
    """
    for factor, prefix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= factor:
            return f"{number / factor:.2f} {prefix}"
    return f"{number} "
