"""BLINK: fourteen visual perception tasks (Fu et al., 2024)."""
