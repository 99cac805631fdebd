"""Parsers of responses to MULTI: letters, blanks, sentences in Chinese and English."""
