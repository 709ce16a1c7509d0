"""Which documents say the same as others, or almost? Checksums, shingles, sketches, and what follows from them."""
