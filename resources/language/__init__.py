"""Small models of language: parts of speech, inference, METEOR."""
