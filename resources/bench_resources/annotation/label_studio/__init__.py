"""Label Studio as an annotation backend."""
