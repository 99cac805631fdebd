"""Chat templates, processors, image tokens and prompt tensors."""
