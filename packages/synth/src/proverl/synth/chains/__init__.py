"""Chains of calls on live state, and how people speak of their values."""
