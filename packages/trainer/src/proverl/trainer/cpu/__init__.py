"""What verl needs to run without GPUs: a platform, an engine and a rollout, registered through its plug-in points."""
