"""bench.toml with mistakes and with secrets in it: refused, and what is refused is not echoed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import BenchError
from bench_resources.config.bench_toml import load_settings
from bench_resources.config.environment import known_secrets
from bench_resources.config.sections.servers import ServerSpec
from tests.faults import leaks
from tests.faults.homes import KEY
from tests.faults.table import Fault, FoundError, Trial

_HIDDEN = "refused and not echoed, or hidden wherever it is told"
_NAMED = "refused by its name, or warned of"
_MODEL = '[models.m]\nkind = "server"\nmodel = "m"\n'
_AT = f'{_MODEL}base_url = "http://127.0.0.1:8/v1"\n'
_SECRETS: Mapping[str, str] = {
    "as api_key": f'{_AT}api_key = "{KEY}"',
    "as api_key_env": f'{_AT}api_key_env = "{KEY}"',
    "as key": f'{_AT}key = "{KEY}"',
    "as a bearer's header": f'{_AT}headers = {{Authorization = "Bearer {KEY}"}}',
    "as key_header": f'{_AT}key_header = "Authorization: Bearer {KEY}"',
    "in extra_body": f'{_AT}extra_body = {{api_key = "{KEY}"}}',
    "deep in extra_body": f'{_AT}extra_body = {{a = {{b = [{{token = "{KEY}"}}]}}}}',
    "in chat_template_kwargs": (
        f'{_AT}server = "vllm"\nchat_template_kwargs = {{api_key = "{KEY}"}}'
    ),
    "before the host": f'{_MODEL}base_url = "http://user:{KEY}@127.0.0.1:8/v1"',
    "before the host, alone": f'{_MODEL}base_url = "http://{KEY}@127.0.0.1:8/v1"',
    "in the query": f'{_MODEL}base_url = "http://127.0.0.1:8/v1?key={KEY}"',
    "in the query of the second address": (
        f'{_MODEL}base_url = ["http://127.0.0.1:8/v1", "http://127.0.0.1:9/v1?api_key={KEY}"]'
    ),
    "in the fragment": f'{_MODEL}base_url = "http://127.0.0.1:8/v1#{KEY}"',
    "in a section that there is not": f'[secrets]\nkey = "{KEY}"',
    "at the top": f'api_key = "{KEY}"',
    "in a line that is no TOML": f"api_key = {KEY}",
    "in a suite's section": f'[suites.codis]\napi_key = "{KEY}"',
    "in a benchmark's section": f'[benchmarks.quiz]\nfile = "a"\napi_key = "{KEY}"',
    "in the address of a source": f'[sources]\ncodis = "https://u:{KEY}@x.org/a.zip"',
}
_UNKNOWN: Mapping[str, str] = {
    "of a server": f"{_AT}max_token = 7",
    "of a local model": '[models.m]\nkind = "transformers"\npath = "a"\ndtpye = "x"',
    "of a baseline": '[models.m]\nkind = "random"\nsede = 1',
    "of recorded responses": '[models.m]\nkind = "recorded"\nfile = "a"\nflie = "b"',
    "of a blind model": '[models.m]\nkind = "blind"\nof = "random"\nfo = "x"',
    "of a model in Python": '[models.m]\nkind = "python"\nfactory = "a:b"\nfactroy = "x"',
    "of a benchmark": '[benchmarks.quiz]\nfile = "a"\nmetirc = "anls"',
    "of a benchmark's columns": '[benchmarks.quiz]\nfile = "a"\ncolumns = {qestion = "q"}',
    "of the checkpoints": '[checkpoints]\nfoldres = ["a"]',
    "at the top": "modles = 1",
    "that is a section": "[modles.m]\nkind = 'random'",
    "that is a source": '[sources]\ncodsi = "a"',
    "that is a suite": "[suites.codsi]\njudge = 'rules'",
    **{
        f"of {suite}": f'[suites.{suite}]\nscorr = "x"'
        for suite in ("blink", "codis", "cogbench", "journeybench", "multi")
    },
}


def faults() -> list[Fault]:
    """Each is one bench.toml."""
    return [
        *(_row(f"a secret {name}", written, _HIDDEN, _refused, short=True)
          for name, written in _SECRETS.items() if "[suites" not in written),
        *(_row(f"a secret {name}", written, _HIDDEN, _refused, short=False)
          for name, written in _SECRETS.items() if "[suites" in written),
        *(_row(f"an unknown entry {name}", written, _NAMED, _refused, short=False)
          for name, written in _UNKNOWN.items()),
        _row("a byte order mark in front", _AT, "read", _read_with_mark, short=True),
    ]  # fmt: skip


def _row(name: str, written: str, must: str, attempt: object, *, short: bool) -> Fault:
    return Fault(
        group="settings",
        name=name,
        made=" ".join(written.replace(KEY, "KEY").split()),
        must=must,
        attempt=lambda trial: attempt(trial, written),  # type: ignore[operator]
        short=short,
    )


def _refused(trial: Trial, written: str) -> str:
    try:
        problems = _looked_at(trial.folder, written)
    except BenchError as error:
        leaks.search(trial.folder / "nowhere", str(error))
        return "refused"
    if any("no suite named 'codsi'" in problem for problem in problems):
        return "named in a warning"
    if KEY in known_secrets(trial.folder).redacted(f"as {KEY} is told"):
        raise FoundError("taken as if it were well")
    return "hidden wherever it is told"


def _looked_at(home: Path, written: str) -> Sequence[str]:
    """Read it as every command does; returns the problems that commands print as warnings."""
    (home / "bench.toml").write_text(written, encoding="utf-8")
    settings = load_settings(home)
    for spec in settings.models.values():
        if isinstance(spec, ServerSpec):
            secrets = known_secrets(home)
            leaks.search(
                home / "nowhere",
                spec.identity_of(),
                secrets.redacted(spec.place),
            )
    if settings.suites or settings.sources:
        (catalog := load_catalog(settings)).check(settings)
        return catalog.problems
    return ()


def _read_with_mark(trial: Trial, written: str) -> str:
    (trial.folder / "bench.toml").write_bytes(b"\xef\xbb\xbf" + written.encode())
    if "m" not in load_settings(trial.folder).models:
        raise FoundError("read as if it were empty")
    return "read"
