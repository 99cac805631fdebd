"""MULTI: multimodal Chinese exam questions (Zhu et al., 2024)."""
