"""CODIS: context-dependent visual comprehension (Luo et al., 2024)."""
