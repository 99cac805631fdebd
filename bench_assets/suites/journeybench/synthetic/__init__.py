"""The synthetic mini edition of JourneyBench."""
