"""Linking: which concept of a lexicon a mention means."""
