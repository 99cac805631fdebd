"""The data of CogBench: sources, reasoning chains and kinds."""
