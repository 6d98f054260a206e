"""Many runs of one diagram: plans of what varies, runners, results and their statistics."""
