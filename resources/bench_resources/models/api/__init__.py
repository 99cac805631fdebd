"""Models behind OpenAI- and Anthropic-compatible servers."""
