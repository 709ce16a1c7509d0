"""Judge and annotate a visit; never download."""
