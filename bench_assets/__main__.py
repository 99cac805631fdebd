"""``python -m bench_assets`` is ``bench``."""

from bench_assets.cli.start import main

main()
