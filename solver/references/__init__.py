"""Who supplies the motion to follow."""
