"""The released data of BLINK as questions."""
