"""``python -m bench_assets`` is ``bench``."""

from bench_assets.bench.cli import app

app()
