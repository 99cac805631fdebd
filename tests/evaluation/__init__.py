"""Tests of `bench_assets.evaluation`."""
