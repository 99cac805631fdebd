"""Results of other harnesses: logs of Inspect AI, samples of lmms-eval, files of VLMEvalKit."""
