"""Response parsers: normalization, reasoning, choices, numbers, assertion scope."""
