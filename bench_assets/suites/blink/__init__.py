"""BLINK: fourteen perception tasks as multiple choice (Fu et al., ECCV 2024)."""
