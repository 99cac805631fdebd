"""Parquet tables: locations, checksums, queries, transfer."""
