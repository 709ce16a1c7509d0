"""Proves on real documentation sites that every linked page is fetched, and only once."""
