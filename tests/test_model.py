"""Any order of what people and accidents do to sessions, against a model of it: real SQLite, a real tmux.

`HQT_TEST_STEPS=5000` runs that many steps instead of CI's few hundred.
"""

from __future__ import annotations

import json
import os
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.world import World, eventually

NAMES = st.sampled_from(["a", "b", "c", "d"])
POLICIES = st.sampled_from([(), ("-s",), ("--ro",), ("--ro", "--no-net")])
SANDBOXES = {
    (): None,
    ("-s",): {"fs": "rw", "net": True},
    ("--ro",): {"fs": "ro", "net": True},
    ("--ro", "--no-net"): {"fs": "ro", "net": False},
}
STEPS_OF_ONE = 25


class Sessions(RuleBasedStateMachine):
    """The model: of each session what it should be doing, what it is doing, its policy and the command it was given."""

    world: ClassVar[World]

    @initialize()
    def begin(self):
        self.model = {}

    def run(self, *arguments):
        ended = self.world._fork(*self.world.program, *arguments)
        assert ended.returncode in (0, 1, 3), ended.stderr
        assert "Traceback" not in ended.stderr
        assert "unexpected" not in ended.stderr
        return ended.returncode

    @rule(name=NAMES, policy=POLICIES)
    def new(self, name, policy):
        ended = self.run("new", "-d", "-n", name, "-H", "generic", *policy, "--", "sleep", "1000")
        assert ended == (1 if name in self.model else 0)
        if name not in self.model:
            argv = json.loads(self.world.hqt("show", name, "--json").stdout)["argv"]
            self.model[name] = {"desired": "running", "state": "running", "policy": policy, "argv": argv}

    @rule(name=NAMES)
    def stop(self, name):
        assert self.run("stop", name) == (0 if name in self.model else 3)
        if name in self.model:
            self.model[name] |= {"desired": "stopped", "state": "stopped"}

    @rule(name=NAMES)
    def attach(self, name):
        assert self.run("attach", "-d", name) == (0 if name in self.model else 3)
        if name in self.model:
            self.model[name] |= {"desired": "running", "state": "running"}

    @rule(name=NAMES)
    def remove(self, name):
        assert self.run("rm", name) == (0 if name in self.model else 3)
        self.model.pop(name, None)

    @rule(name=NAMES, to=NAMES)
    def rename(self, name, to):
        free = name in self.model and (to not in self.model or to == name)
        assert self.run("rename", name, to) == (0 if free else 1 if name in self.model else 3)
        if free:
            self.model[to] = self.model.pop(name)

    @rule()
    def restore(self):
        assert self.run("restore") == 0
        for session in self.model.values():
            if (session["desired"], session["state"]) == ("running", "stopped"):
                session["state"] = "running"

    @rule()
    def the_server_is_killed(self):
        self.world.end()
        for session in self.model.values():
            session["state"] = "stopped"

    @precondition(lambda self: any(session["state"] == "running" for session in self.model.values()))
    @rule(data=st.data(), signal=st.sampled_from(["INT", "KILL"]))
    def its_process_is_ended(self, data, signal):
        name = data.draw(st.sampled_from(sorted(n for n, s in self.model.items() if s["state"] == "running")))
        window = self.world.show(name)["window"]
        pid = self.world.tmux("display-message", "-p", "-t", window, "#{pane_pid}").strip()
        self.world.run("sh", "-c", f"kill -{signal} {pid}")
        eventually(lambda: self.world.tmux("display-message", "-p", "-t", window, "#{pane_dead}") == "1\n")
        self.model[name]["state"] = "exited"

    @precondition(lambda self: any(session["state"] != "stopped" for session in self.model.values()))
    @rule(data=st.data())
    def its_window_is_closed(self, data):
        name = data.draw(st.sampled_from(sorted(n for n, s in self.model.items() if s["state"] != "stopped")))
        self.world.tmux("kill-window", "-t", self.world.show(name)["window"])
        self.model[name]["state"] = "stopped"

    @invariant()
    def what_is_listed_is_the_model(self):
        found = {session["name"]: session for session in self.world.ls()}
        assert {name: session["state"] for name, session in found.items()} == {
            name: session["state"] for name, session in self.model.items()
        }
        for name, session in self.model.items():
            assert found[name]["sandbox"] == SANDBOXES[session["policy"]]
        windows = self.world.tmux("list-panes", "-a", "-f", "#{@hqt_id}", "-F", "#{@hqt_id}").split()
        assert sorted(windows) == sorted(s["id"] for s in found.values() if s["state"] != "stopped")

    def teardown(self):
        for name, session in self.model.items():
            assert self.world.show(name)["argv"] == session["argv"]  # identical, whatever happened since
        self.run("rm", "-y", *self.model) if self.model else None
        folder = self.world.database.parent / "sessions"
        assert not folder.exists() or list(folder.iterdir()) == []
        self.world.end()


@pytest.mark.filterwarnings("ignore::hypothesis.errors.NonInteractiveExampleWarning")
def test_any_order_of_things_leaves_what_the_model_says(own_world):
    Sessions.world = own_world
    steps = int(os.environ.get("HQT_TEST_STEPS", "250"))
    run_state_machine_as_test(
        Sessions,
        settings=settings(
            max_examples=max(steps // STEPS_OF_ONE, 1),
            stateful_step_count=STEPS_OF_ONE,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
