"""From bytes to text and links."""
