"""CODIS: pictures that mean one thing in one context and another in the other."""
