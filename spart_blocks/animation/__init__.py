"""Motion to look at: a run's robots, poses and signals as one page of HTML."""
