"""CogBench: image reasoning and description (Song et al., 2024)."""
