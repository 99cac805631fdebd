"""The synthetic mini edition of CogBench."""
