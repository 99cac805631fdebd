"""Results of other harnesses: Inspect AI, lmms-eval, lm-eval, VLMEvalKit, EvalScope."""
