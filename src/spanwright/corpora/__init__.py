"""What is done with corpora: overlap, articles, label maps, statistics, splitting, stored documents."""
