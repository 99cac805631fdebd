"""The multiple-choice question task of CogBench."""
