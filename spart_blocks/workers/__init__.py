"""Worker processes: new Python processes that serve a module, and the messages to and from them.

`process` starts one and waits for its messages, `async_process` runs several in an event loop,
`executor` distributes calls among several, `standby` starts before there is work. No process is
forked, and the main module of the parent is not imported again. A worker ignores Ctrl-C, which the
parent handles, and ends when its parent ends.
"""
