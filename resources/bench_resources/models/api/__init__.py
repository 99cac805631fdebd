"""Models behind OpenAI-, Anthropic- and Gemini-compatible servers."""
