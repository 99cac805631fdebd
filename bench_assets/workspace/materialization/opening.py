"""Opens a home folder, for commands and for the Python interface."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

from bench_assets.catalog import load_catalog
from bench_assets.core.schema.errors import SettingsError
from bench_assets.evaluation.outcomes import Accepted
from bench_assets.evaluation.reviews import load_review
from bench_assets.workspace.console.output import print_message, progress_style
from bench_assets.workspace.materialization.model_arguments import resolve_models, sections_of
from bench_assets.workspace.materialization.workbench import Workbench
from bench_resources.config.bench_toml import Settings, load_settings
from bench_resources.config.environment import default_home, set_openmp_passive, weak_key_warnings
from bench_resources.config.known_benchmarks import add_known
from bench_resources.config.sections.engine_kinds import kind_problems
from bench_resources.config.sources_toml import BENCH_TOML, SourceRule, remembered_sources
from bench_resources.models.registry.named_models import ResolvedModel
from bench_resources.redaction.logs import redact_logs


@contextmanager
def open_workbench(  # noqa: PLR0913  (an option each)
    suite: str = "",
    source: str | Path = "",
    judge: str = "",
    scorer: str = "",
    *,
    reader: str = "",
    models: Sequence[str | ResolvedModel] = (),
    elicit: str = "",
    sections: Mapping[str, Mapping[str, Any]] | None = None,
    review: str = "",
    accept: Sequence[str] = (),
    training: Sequence[Path] = (),
    rule: SourceRule = "evaluated last",
) -> Generator[Workbench]:
    """Open ``$BENCH_HOME``, or ``bench_home`` in the working directory; prints warnings.

    Args:
        suite: Suite or task to load; "": all suites.
        source: Folder of the suite's files or its address; "default": bench.toml's.
        judge: The suite's judge, instead of bench.toml's.
        scorer: The suite's scorer, instead of bench.toml's.
        reader: The suite's reader, instead of bench.toml's.
        models: The models to evaluate, by name or location; or resolved.
        elicit: Method of elicitation; "": none.
        sections: Further models with their sections.
        review: File of the suite's reviewed responses, instead of bench.toml's.
        accept: Outcomes that do not stop a number, in addition to bench.toml's.
        training: Training data for contamination checks, instead of bench.toml's.
        rule: The source of a suite for which none is named here.

    Raises:
        BenchError: If bench.toml or one of the choices cannot be used.
    """
    _check_accepted(accept)
    load_review(review)  # fail on an unusable form before any request
    suite_name = suite.partition("/")[0]  # a task has the source of its suite
    add_known(default_home(), [suite_name])
    chosen = {"judge": judge, "reader": reader, "scorer": scorer, "review": review}
    overrides = {name: value for name, value in chosen.items() if value}
    read = home_settings()
    resolved = resolve_models(models, read, elicit)
    settings = read.with_overrides(
        sources={suite_name: source} if str(source) not in ("", BENCH_TOML) else {},
        suites={suite_name: overrides} if overrides else {},
        models={**sections_of(resolved), **(sections or {})},
        accept=accept,
        training=training,
    )
    catalog = load_catalog(settings, only={suite_name, *settings.suites} if suite_name else None)
    kinds = kind_problems(settings.models)
    print_warnings([*catalog.problems, *kinds, *weak_key_warnings(settings.home)])
    if not source:
        suites = [suite_name] if suite_name else catalog.names
        found = remembered_sources(read, rule)
        remembered = {name: found[name] for name in suites if name in found}
        for name, last in remembered.items():
            print_message(f"{name}: from {last}, as in its last evaluation. {_OTHERWISE}")
        settings = settings.with_overrides(sources=remembered)
    with Workbench(
        settings,
        [suite_name] if suite_name else (),
        models=resolved,
        catalog=catalog,
        progress=progress_style(),
    ) as bench:
        yield bench


_OTHERWISE = f"--source {BENCH_TOML}: bench.toml's, or the mini edition"


def _check_accepted(accept: Sequence[str]) -> None:
    known = get_args(Accepted)
    if isinstance(accept, str) or not set(accept) <= set(known):
        raise SettingsError(f"accept: expected a list of {' and '.join(known)}, got {accept!r}")


def print_warnings(problems: Sequence[str]) -> None:
    """Print each problem as a warning."""
    for problem in problems:
        print_message(f"warning: {problem}")


def home_settings() -> Settings:
    """Read the settings of the home; also starts to redact logs.

    Raises:
        SettingsError: If bench.toml is invalid.
    """
    redact_logs(default_home())
    set_openmp_passive()
    return load_settings(default_home())
