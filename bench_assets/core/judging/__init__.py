"""LLM-as-judge: verdict requests, retries and verdict parsers."""
