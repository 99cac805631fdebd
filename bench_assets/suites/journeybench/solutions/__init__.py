"""Solution verification of MCOT and multi-image VQA (section 4.1)."""
