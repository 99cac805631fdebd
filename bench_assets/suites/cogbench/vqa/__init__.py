"""The question task of CogBench (section 2.3.2)."""
