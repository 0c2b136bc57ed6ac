"""Mathematics that has never heard of bodies."""
