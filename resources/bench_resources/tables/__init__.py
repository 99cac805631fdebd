"""Parquet tables: locations, checksums, queries, metrics snapshot."""
