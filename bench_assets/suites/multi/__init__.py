"""MULTI (arXiv 2402.03173): Chinese examination questions with text and images."""
