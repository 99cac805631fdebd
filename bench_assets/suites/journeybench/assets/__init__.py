"""JourneyBench as Dagster assets."""
