"""The Python interface: evaluate, compare, load, generate, metrics, results of other harnesses."""
