"""The collection as others take it: documents in a format they read, written where they want it."""
