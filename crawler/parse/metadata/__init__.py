"""What a page says of itself: title, authors, dates, description, and what JSON-LD adds."""
