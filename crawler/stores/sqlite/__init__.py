"""The embedded engine: one file, several processes of one machine."""
