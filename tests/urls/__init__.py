"""Tests of the canonicalization, the keys and the scope of URLs."""
