"""What people hand over: fields of their own in bench.toml, addresses of pages."""

from collections.abc import Callable
from functools import partial

from bench_assets.core.schema.errors import SettingsError
from bench_resources.config.bench_toml import load_settings
from tests.fakes.annotation_pages import Site
from tests.faults.table import Fault, FoundError, Trial
from tests.resources.annotation.port_cases import FORM, A

_OWN = ("messages", "model", "stream", "n", "prompt", "input", "system")
_ADDRESSES = ("/f/{}/next", "/f/1/{}", "/u/{}", "/{}", "/in/{}", "/f/{}/answers")
_NUMBERS = (10**20, -1, 2**63, "%00", "%1b%5b2J", "1e400", "٣", "..%2f")


def faults() -> list[Fault]:
    """One a kind."""
    refused = "refused, by name"
    return [
        *(_row(f"extra_body = {{{name} = ...}}", "bench.toml", refused,
               partial(_taken, name=name)) for name in _OWN),
        _row("numbers and controls in addresses of annotation pages", "GET",
             "no status of 500 or more", _requested_pages),
    ]  # fmt: skip


def _row(name: str, made: str, must: str, attempt: Callable[[Trial], str]) -> Fault:
    return Fault(group="inputs", name=name, made=made, must=must, attempt=attempt, longest=60.0)


def _taken(trial: Trial, name: str) -> str:
    (trial.folder / "bench.toml").write_text(
        '[models.m]\nkind = "server"\nmodel = "m"\nbase_url = "http://127.0.0.1:8/v1"\n'
        f"extra_body = {{ {name} = 2 }}"
    )
    try:
        load_settings(trial.folder)
    except SettingsError as error:
        if name not in str(error):
            raise FoundError(f"the error does not name the field: {error}") from error
        return "refused"
    raise FoundError("taken as if it were well")


def _requested_pages(trial: Trial) -> str:
    with Site(trial.folder) as site:
        site.backend.ask(FORM, [A])
        http = site.visitor("ana").http
        http.get(site.link("ana"))
        statuses = set()
        for address in _ADDRESSES:
            for number in _NUMBERS:
                got = http.get(address.format(number))
                statuses.add(got.status_code)
                if got.status_code >= 500 or "Traceback" in got.text:
                    raise FoundError(f"{address.format(number)}: {got.status_code}")
                if {c for c in got.text if ord(c) < 32} - set("\t\r\n"):
                    raise FoundError(f"{address.format(number)}: a control character in the page")
    return f"statuses {sorted(statuses)}"
