"""Tests of store engines beyond the contract."""
