"""What one answer contains, found in processes with limits of their own."""
