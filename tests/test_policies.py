"""Each policy, tried from inside its jail: what can be read, written and reached is what the policy says."""

from __future__ import annotations

import http.server
import threading
from pathlib import Path

import pytest

from tests.world import SECRET, eventually

PROBE = """
cat ~/.ssh/id_rsa
for place in project:. home:$HOME usr:/usr etc:/etc root:/; do
    if (: > "${place#*:}/.probe") 2>/dev/null; then echo "writes ${place%%:*}"; fi
done
if exec 3<>/dev/tcp/127.0.0.1/PORT; then echo "reaches the network"; fi
tr '\\0' '\\n' < /proc/1/environ | cut -d= -f1 | tr '\\n' ' '
"""


@pytest.fixture
def port():
    """A server on loopback."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("fs", ["rw", "ro"])
@pytest.mark.parametrize("net", ["net", "no-net"])
def test_a_jail_does_what_its_policy_says_and_no_more(world, port, fs, net, bwrap_folder):
    world.environment.update(world.path_with(bwrap_folder))
    world.environment["AWS_SECRET_ACCESS_KEY"] = SECRET
    name = world.new("-H", "generic", f"--{fs}", f"--{net}", "-s", "--", "bash", "-c", PROBE.replace("PORT", str(port)))
    world.ends(name)
    screen = world.hqt("peek", name).stdout
    assert SECRET not in screen
    assert "AWS" not in screen
    assert ("writes project" in screen) is (fs == "rw")
    assert (world.project / ".probe").exists() is (fs == "rw")
    assert "writes home" in screen  # a fresh, private one
    assert not (world.home / ".probe").exists()
    for place in ("usr", "etc", "root"):
        assert f"writes {place}" not in screen
    assert ("reaches the network" in screen) is (net == "net")


def test_without_a_jail_the_same_probe_sees_everything(world):
    assert SECRET in world.output_of("cat ~/.ssh/id_rsa")


def test_the_environment_of_the_server_is_not_readable_in_the_jail(world):
    world.environment["AWS_SECRET_ACCESS_KEY"] = SECRET
    assert SECRET not in world.output_of("cat /proc/*/environ", "-s")


def test_a_bind_is_read_only_unless_it_says_rw(world):
    for folder in ("reference", "scratch"):
        (world.home / folder).mkdir()
        (world.home / folder / "file").write_text(f"the {folder}")
    world.give_away()
    script = "cat ~/reference/file ~/scratch/file; echo new > ~/scratch/file; echo new > ~/reference/file"
    screen = world.output_of(script, "--bind", world.home / "reference", "--bind", f"{world.home / 'scratch'}:rw")
    assert "the referencethe scratch" in screen
    assert (world.home / "scratch/file").read_text() == "new\n"
    assert (world.home / "reference/file").read_text() == "the reference"


def test_the_files_of_etc_are_copies_with_what_the_host_has_in_them(world):
    files = ("nsswitch.conf", "ld.so.cache", "localtime", "services", "ssl/openssl.cnf")
    there = [f"/etc/{name}" for name in files if (Path("/etc") / name).is_file()]
    name = world.sh(f"cksum {' '.join(there)}; grep -c ' /etc/nsswitch.conf ' /proc/self/mountinfo", "-s")
    eventually(lambda: world.state(name).startswith("exited"))
    assert world.hqt("peek", name).stdout.splitlines()[: len(there) + 1] == [
        *world.run("cksum", *there).stdout.splitlines(),
        "0",
    ]


def test_the_cache_of_a_session_is_its_own_and_kept_over_restarts(world):
    name = world.sh("cat ~/.cache/kept; echo was here > ~/.cache/kept; sleep 1000", "-s")
    eventually(lambda: next((world.home / ".local/state/hqt/sessions").glob("*/cache/kept"), None))
    world.hqt("stop", name)
    world.hqt("attach", name, "-d")
    eventually(lambda: "was here" in world.hqt("peek", name).stdout)
    assert not (world.home / ".cache/kept").exists()


def test_git_commits_in_the_jail_with_the_users_identity(world):
    (world.home / ".gitconfig").write_text("[user]\nname = Some One\nemail = some@one.example\n")
    world.give_away()
    world.run("git", "init", "-q", ".")
    world.output_of("git add -A; git commit --allow-empty -qm message", "-s")
    assert "Some One" in world.run("git", "log").stdout
