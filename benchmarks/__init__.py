"""Side-by-side measurements and pictures for those who work on Heft; nothing here is needed to use it."""
