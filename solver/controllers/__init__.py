"""Who decides; one file each, found by looking in this folder."""
