"""The command for experiments: compose a config, run its stages, record it. No method code stands here."""
