"""The description task of CogBench (section 2.3.1)."""
