"""Checks of the report's scripts: types, rules, and tests that Node runs."""
