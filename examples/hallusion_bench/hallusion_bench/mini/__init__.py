"""HallusionBench's mini edition: drawn figures and entries in the authors' format."""
