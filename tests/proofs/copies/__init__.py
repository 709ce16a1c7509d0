"""Proves that workers find the same clusters of copies with and without kills."""
