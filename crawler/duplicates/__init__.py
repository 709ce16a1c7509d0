"""Which documents are the same, or nearly?"""
