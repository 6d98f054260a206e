"""Worker processes: fresh Pythons that serve a module, and the messages with them.

`process` starts one and waits for its messages, `async_process` does so beside others in one event
loop, `executor` gives calls to several. Nothing is forked, and the main module of the parent is not
imported again. A worker ignores Ctrl-C, which its parent answers, and ends when its parent does.
"""
