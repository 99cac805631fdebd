"""Terminal output of model checks."""

from collections.abc import Iterator

from bench_assets.core.tables.arrow import to_json
from bench_assets.workspace.console.output import print_json_result, print_result
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
    if check.response_seconds is not None:
        yield "seconds", f"{check.response_seconds:.2f} per response"
    if check.note:
        yield "note", check.note
    for probe in check.probes:
        yield probe.probe, _probe_text(probe)


def _probe_text(one: ProbeResult) -> str:
    if one.error:
        return f"{'FAILED' if one.failed else 'cannot'}: {one.error}"
    text = " ".join(one.response.split())
    cut = text if len(text) <= _MAX_RESPONSE_LENGTH else f"{text[: _MAX_RESPONSE_LENGTH - 1]}…"
    return f"{cut or '(nothing)'}{f' ({one.note})' if one.note else ''}"
