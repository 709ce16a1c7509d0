"""What the engines of the store promise beyond the contract."""
