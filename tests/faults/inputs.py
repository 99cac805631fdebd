import re
from collections.abc import Callable
from functools import partial

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import load_settings
from tests.fakes.annotation_pages import Site
from tests.faults.table import Fault, FindingError, Trial
from tests.resources.annotation.port_cases import FORM, A

_RESERVED = ("messages", "model", "stream", "n", "prompt", "input", "system")
_ADDRESSES = ("/f/{}/next", "/f/1/{}", "/u/{}", "/{}", "/in/{}", "/f/{}/answers")
_CONTROL_CHARACTER = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f]")  # but tabs and line ends
_NUMBERS = (10**20, -1, 2**63, "%00", "%1b%5b2J", "1e400", "٣", "..%2f")


def faults() -> list[Fault]:
    """A fault for each reserved field of a request, and one for addresses."""
    refused = "refused, by name"
    return [
        *(_row(f"extra_body = {{{name} = ...}}", "bench.toml", refused,
               partial(_reserved_field, name=name)) for name in _RESERVED),
        _row("numbers and controls in addresses of annotation pages", "GET",
             "no status of 500 or more", _requested_pages),
    ]  # fmt: skip


def _row(name: str, cause: str, expected: str, attempt: Callable[[Trial], str]) -> Fault:
    return Fault(
        group="inputs", name=name, cause=cause, expected=expected, attempt=attempt, timeout=60.0
    )


def _reserved_field(trial: Trial, name: str) -> str:
    """Load settings whose extra_body replaces a field that the engine sets itself."""
    (trial.folder / "bench.toml").write_text(
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://127.0.0.1:8/v1"\n'
        f"extra_body = {{ {name} = 2 }}"
    )
    try:
        load_settings(trial.folder)
    except SettingsError as error:
        if name not in str(error):
            raise FindingError(f"the error does not name the field: {error}") from error
        return "refused"
    raise FindingError("accepted")


def _requested_pages(trial: Trial) -> str:
    """Request pages of a signed-in person with odd numbers in their addresses."""
    with Site(trial.folder) as site:
        site.backend.ask(FORM, [A])
        http = site.visitor("ana").http
        http.get(site.link("ana"))
        statuses = set()
        for address in _ADDRESSES:
            for number in _NUMBERS:
                path = address.format(number)
                response = http.get(path)
                statuses.add(response.status_code)
                if response.status_code >= 500 or "Traceback" in response.text:
                    raise FindingError(f"{path}: {response.status_code}")
                if _CONTROL_CHARACTER.search(response.text):
                    raise FindingError(f"{path}: a control character in the page")
    return f"statuses {sorted(statuses)}"
