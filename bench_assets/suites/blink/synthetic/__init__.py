"""The synthetic mini edition of BLINK."""
