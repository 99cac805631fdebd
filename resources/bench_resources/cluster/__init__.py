"""Clusters: runs on Ray, Slurm and Kubernetes; PostgreSQL and object stores that homes share."""
