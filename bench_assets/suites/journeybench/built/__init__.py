"""The built route: JourneyBench from a gallery, votes and written texts (section 3)."""
