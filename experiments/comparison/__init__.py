"""What `experiments.compare` is made of.

Read on: `recorded` (which runs), `findings` (figures, intervals, differences), `words` and `paper` (how they are said,
and the paper's own), then what they are shown as: `as_json`, `page`, `plots`, `changed_episodes`.
"""
