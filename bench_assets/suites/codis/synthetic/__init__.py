"""The synthetic mini edition of CODIS."""
