"""Reading of answers, keys, verdicts and grades: what a text states, by rules that are data."""
