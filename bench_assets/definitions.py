"""The code location that Dagster loads: the graph over the default home folder."""

import logging

from bench_assets.catalog import load_catalog
from bench_assets.graph.assembly import build_graph
from resources.settings.discreet_logs import let_logs_tell_no_secrets
from resources.settings.discreet_tracebacks import let_tracebacks_tell_no_secrets
from resources.settings.environment import default_home
from resources.settings.settings_file import SettingsFile

let_logs_tell_no_secrets(default_home())
let_tracebacks_tell_no_secrets(default_home())
_settings = SettingsFile(home=str(default_home()))
_found = load_catalog(_settings.load())
_found.check(_settings.load())
defs, _catalog = build_graph(_settings, _found)
for _problem in _catalog.problems:
    logging.getLogger(__name__).warning(_problem)
