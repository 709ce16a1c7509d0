"""What happens to a visit's result: look at the page, then commit."""
