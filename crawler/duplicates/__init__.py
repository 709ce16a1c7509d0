"""Detection of duplicates and near-duplicates: checksums, shingles, MinHash and simhash sketches, and their index."""
