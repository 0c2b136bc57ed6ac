"""What nature does, to any character, whatever anyone wants."""
