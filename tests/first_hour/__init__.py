"""The first hour: whatever a newcomer does, the next step is clear."""
