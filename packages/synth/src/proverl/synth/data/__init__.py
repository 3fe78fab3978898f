"""The dataset: its files, card, checks, and rows from elsewhere."""
