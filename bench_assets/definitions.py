"""The code location that Dagster loads: the graph over the default home folder.

The garbage collector is off during imports, which create a million permanent objects: scanning them
would take a third of the loading time.
"""

import gc
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dagster import Definitions


def _load_definitions() -> "Definitions":
    """Build the graph of the default home; log what is left out, and redact secrets in logs."""
    from bench_assets.catalog import load_catalog
    from bench_assets.defs.assembly import build_graph
    from bench_resources.config.bench_toml import load_settings
    from bench_resources.config.environment import default_home
    from bench_resources.config.sections.engine_kinds import kind_problems
    from bench_resources.redaction.logs import redact_logs, redact_stderr

    redact_logs(default_home())
    redact_stderr(default_home())
    settings = load_settings(default_home())
    catalog = load_catalog(settings)
    catalog.check(settings)
    definitions, catalog = build_graph(settings, catalog)
    for problem in (*catalog.problems, *kind_problems(settings.models)):
        logging.getLogger(__name__).warning(problem)
    return definitions


gc.disable()
try:
    defs = _load_definitions()
    gc.freeze()
finally:
    gc.enable()
