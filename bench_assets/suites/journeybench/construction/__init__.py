"""The built route of JourneyBench (sections 3.1 to 3.3)."""
