"""Tests of the extensions: progress and metrics."""
