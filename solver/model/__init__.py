"""What things are: frozen data, and questions it can answer alone."""
