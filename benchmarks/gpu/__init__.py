"""Speed and memory of the local engines on one GPU (``make bench-gpu``)."""
