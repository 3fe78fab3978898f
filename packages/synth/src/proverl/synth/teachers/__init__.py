"""Who writes queries and demonstrates: the script, or a model behind an endpoint."""
