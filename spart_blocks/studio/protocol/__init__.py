"""Types of what the page of the studio and its server say to each other."""
