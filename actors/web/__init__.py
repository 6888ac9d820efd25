"""The page: runs and their traces in a browser. It reads, and changes nothing."""
