"""``python -m bench_assets`` is ``bench``."""

from bench_assets.bench.start import main

main()
