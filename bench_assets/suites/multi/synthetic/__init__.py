"""The synthetic mini edition of MULTI."""
