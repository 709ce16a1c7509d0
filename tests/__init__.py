"""Promises, and what proves them."""
