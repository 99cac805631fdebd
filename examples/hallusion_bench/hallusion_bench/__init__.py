"""HallusionBench: what a model sees, and what it only thinks that it sees."""
