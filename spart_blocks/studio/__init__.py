"""`spart studio`: a page in the browser to see, run, tune and edit diagrams."""
