"""Character encodings of bodies: labels, declarations in HTML and XML, UTF-16 and UTF-32, statistical detection."""
