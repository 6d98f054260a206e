"""Pages that run a diagram: the compiled program as WebAssembly in one HTML file."""
