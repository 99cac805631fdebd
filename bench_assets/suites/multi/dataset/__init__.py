"""The released data of MULTI as questions."""
