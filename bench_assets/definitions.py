"""The code location that Dagster loads: the graph over the default home folder."""

from bench_assets.graph import build_definitions
from resources.settings import default_home
from resources.settings_file import SettingsFile

defs = build_definitions(SettingsFile(home=str(default_home())))
