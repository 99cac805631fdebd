"""Models and judges opened by name; baselines, recorded responses, model checks."""
