"""Tables and vectors in the folder that holds everything, ``BENCH_HOME``."""
