"""Repositories for tests."""

from __future__ import annotations

import os
import subprocess


def git(top, *words):
    """Run git, without the user's settings; returns what it prints."""
    quiet = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(["git", *words], cwd=top, check=True, capture_output=True, env=quiet)
    return done.stdout.decode()


def repository_of(top):
    """Make a repository of a folder, with all its files in one commit."""
    git(top, "init", "-q", "-b", "main")
    git(top, "add", ".")
    git(top, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
