"""MULTI's mini edition: the raw material, and what draws it."""
