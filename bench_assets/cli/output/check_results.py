"""Terminal output of model checks."""

from collections.abc import Iterator

from bench_assets.core.tables.arrow import to_json
from bench_assets.workspace.console.output import print_json_result, print_result
from bench_resources.models.registry.model_check import ModelCheck, ProbeResult

_MAX_RESPONSE_LENGTH = 60  # characters of a response that are printed
_LABEL_WIDTH = 20  # characters of the column of labels


def print_check(check: ModelCheck, *, as_json: bool) -> None:
    """Print one model: as a JSON line, or a block that begins with the verdict."""
    if as_json:
        print_json_result({**to_json(check), "failures": check.failures})
        return
    verdict = "FAILED" if check.failures else "ok"
    print_result(f"{check.model}: {verdict}")
    for label, text in _labelled_lines(check):
        print_result(f"  {label:<{_LABEL_WIDTH}}{text}" if text else f"  {label}")


def _labelled_lines(check: ModelCheck) -> Iterator[tuple[str, str]]:
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


def _probe_text(probe: ProbeResult) -> str:
    if probe.error:
        verdict = "FAILED" if probe.failed else "cannot"
        return f"{verdict}: {probe.error}"
    text = " ".join(probe.response.split()) or "(nothing)"
    if len(text) > _MAX_RESPONSE_LENGTH:
        text = text[: _MAX_RESPONSE_LENGTH - 1] + "…"
    return f"{text} ({probe.note})" if probe.note else text
