"""A corpus of responses with known intent, composed by grammar, and parsers to try on it."""
