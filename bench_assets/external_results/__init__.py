"""Results of other harnesses: Inspect AI, lmms-eval, VLMEvalKit, EvalScope."""
