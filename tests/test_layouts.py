"""Hosts that are laid out otherwise: a root is built for each, and hqt runs in it, from `new` to `check`."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

import hqt

RESOLVER = "nameserver 192.0.2.7\n"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\n"
ACCOUNTS = (
    f"root:x:0:0::/root:/bin/sh\nsomeone:x:{os.getuid()}:0::/home:/bin/sh\nneighbour:x:1007:1007::/home/n:/bin/sh\n"
)
MERGED = {"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib", "/lib64": "usr/lib64"}
STORE = "/nix/store/0-system"

# What is in each root besides /usr: a text is a file, a word that begins with "->" a link. Where the facts come from:
# each system's own ca-certificates and base-files (filesystem, aaa_base, alpine-baselayout) packages, its manual pages
# update-ca-certificates(8) and update-ca-trust(8), systemd-resolved(8), and, for WSL, its documentation of wsl.conf.
LAYOUTS: dict[str, tuple[dict[str, str], str]] = {
    "debian": (
        {
            "/run/systemd/resolve/stub-resolv.conf": RESOLVER,
            "/etc/resolv.conf": "->../run/systemd/resolve/stub-resolv.conf",
            "/etc/ssl/certs/ca-certificates.crt": CERTIFICATE,
        },
        "/etc/ssl/certs/ca-certificates.crt",
    ),
    "fedora": (
        {
            "/run/NetworkManager/resolv.conf": RESOLVER,
            "/etc/resolv.conf": "->/etc/again/resolv.conf",
            "/etc/again/resolv.conf": "->/run/NetworkManager/resolv.conf",
            "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem": CERTIFICATE,
            "/etc/pki/tls/certs/ca-bundle.crt": "->/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
            "/etc/ssl/certs": "->../pki/tls/certs",
        },
        "/etc/ssl/certs/ca-bundle.crt",
    ),
    "ubuntu": (
        {
            "/run/systemd/resolve/stub-resolv.conf": RESOLVER,
            "/etc/resolv.conf": "->../run/systemd/resolve/stub-resolv.conf",
            "/etc/nsswitch.conf": "passwd: files systemd sss\nhosts: files mymachines resolve [!UNAVAIL=return] dns\n",
            "/etc/ssl/certs/ca-certificates.crt": CERTIFICATE,
            "/etc/ssl/certs/one.pem": "->/usr/share/ca-certificates/one.crt",
        },
        "/etc/ssl/certs/ca-certificates.crt",
    ),
    "wsl": (
        {
            "/mnt/wsl/resolv.conf": RESOLVER,
            "/etc/resolv.conf": "->/mnt/wsl/resolv.conf",
            "/etc/ssl/certs/ca-certificates.crt": CERTIFICATE,
        },
        "/etc/ssl/certs/ca-certificates.crt",
    ),
    "opensuse": (
        {
            "/run/netconfig/resolv.conf": RESOLVER,
            "/etc/resolv.conf": "->/run/netconfig/resolv.conf",
            "/var/lib/ca-certificates/ca-bundle.pem": CERTIFICATE,
            "/var/lib/ca-certificates/pem/one.pem": CERTIFICATE,
            "/etc/ssl/ca-bundle.pem": "->/var/lib/ca-certificates/ca-bundle.pem",
            "/etc/ssl/certs": "->/var/lib/ca-certificates/pem",
        },
        "/etc/ssl/ca-bundle.pem /etc/ssl/certs/one.pem",
    ),
    "alpine": (
        {
            "/etc/resolv.conf": RESOLVER,
            "/etc/alpine-release": "3.22.0\n",
            "/etc/ld-musl-x86_64.path": "/lib:/usr/local/lib:/usr/lib\n",
            "/etc/ssl/certs/ca-certificates.crt": CERTIFICATE,
            "/etc/ssl/cert.pem": "->certs/ca-certificates.crt",
        },
        "/etc/ssl/cert.pem /etc/alpine-release",
    ),
    "arch": (
        {
            "/etc/resolv.conf": RESOLVER,
            "/etc/ca-certificates/extracted/tls-ca-bundle.pem": CERTIFICATE,
            "/etc/ssl/certs/ca-certificates.crt": "->../../ca-certificates/extracted/tls-ca-bundle.pem",
        },
        "/etc/ssl/certs/ca-certificates.crt",
    ),
    "nixos": (
        {
            "/etc/resolv.conf": RESOLVER,
            "/etc/static": f"->{STORE}/etc",
            "/etc/ssl/certs/ca-certificates.crt": "->/etc/static/ssl/certs/ca-certificates.crt",
            "/run/current-system/sw": f"->{STORE}",
        },
        "/etc/ssl/certs/ca-certificates.crt",
    ),
}
SCRIPT = """
new() { "$PYTHON" -m hqt new -d -n all -s -H generic -- sh -c "$1" || exit; }
new 'cat /etc/resolv.conf CERTIFICATE; id -un; getent passwd neighbour; touch made; echo looked; sleep 1000' >&2
until "$PYTHON" -m hqt peek all | grep -q looked; do sleep 0.1; done
"$PYTHON" -m hqt peek all >&2
"$PYTHON" -m hqt check all --json
echo $? > "$HOME/checked"
tmux -S "$SOCKET" kill-server
"""


def built(root, files, system):
    """Build a root: the host's own programs at `system`, and these files."""
    mounts = ["--ro-bind", "/usr", system, "--dev", "/dev", "--bind", "/proc", "/proc", "--tmpfs", "/tmp"]
    for path, content in files.items():
        place = root / path[1:]
        place.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("->"):
            place.symlink_to(content[2:])
        else:
            place.write_text(content)
    return ["--bind", str(root), "/", *mounts]


def busybox(root):
    """Lay out /bin as Alpine has it: one program, and links to it; its shell runs the probe."""
    program = shutil.which("busybox")
    if program is None:
        pytest.skip("busybox is not installed")
    (root / "bin").mkdir()
    shutil.copy(program, root / "bin/busybox")
    for name in ("sh", "ash", "cat", "ls", "mv", "rm", "touch", "sleep", "id", "mkdir", "grep"):
        (root / "bin" / name).symlink_to("busybox")


@pytest.mark.parametrize("name", [*LAYOUTS, "unmerged"])
def test_a_jail_resolves_names_knows_certificates_and_holds_on(own_world, name):
    files, certificate = LAYOUTS["debian" if name == "unmerged" else name]
    system = STORE if name == "nixos" else "/usr"
    root = own_world.base / "root"
    for folder in ("usr", "dev", "proc", "tmp", "run", "var/tmp", "etc", STORE[1:]):
        (root / folder).mkdir(parents=True)
    outer = [shutil.which("bwrap"), *built(root, {"/etc/passwd": ACCOUNTS, **files}, system)]
    if name == "alpine":
        busybox(root)
    for link, target in MERGED.items():
        there = Path(link).resolve()
        if name == "alpine" and link == "/bin":
            continue
        if name == "unmerged":
            outer += ["--ro-bind", str(there), link]
        else:
            outer += ["--symlink", target if system == "/usr" else f"{system}/{there.name}", link]
    if name == "nixos":
        store = own_world.base / "store-etc/ssl/certs"
        store.mkdir(parents=True)
        (store / "ca-certificates.crt").write_text(CERTIFICATE)
        outer += [
            "--tmpfs",
            "/nix/store",
            "--ro-bind",
            "/usr",
            STORE,
            "--ro-bind",
            str(own_world.base / "store-etc"),
            "/nix/store/0-etc",
        ]
        (root / "etc/static").unlink()
        (root / "etc/static").symlink_to("/nix/store/0-etc")
    code = [str(Path(hqt.__file__).parent.parent), *(path for path in sys.path if path.endswith("site-packages"))]
    for place in (*code, str(own_world.base)):
        outer += ["--bind", place, place]
    programs = f"{system}/bin" if name != "nixos" else "/run/current-system/sw/bin"
    path = f"/bin:{programs}" if name == "alpine" else programs
    environment = {
        "PYTHONPATH": os.pathsep.join(code),
        "PATH": path,
        "PYTHON": f"{programs}/python3",
        "SOCKET": str(own_world.socket),
        "LOCPATH": f"{system}/lib/locale",
    }
    script = SCRIPT.replace("CERTIFICATE", certificate)
    ended = own_world.run(*outer, "--chdir", own_world.project, "sh", "-c", script, env=environment, timeout=60)
    for expected in (RESOLVER.strip(), CERTIFICATE.strip(), "looked"):
        assert expected in ended.stderr, ended.stderr
    assert "neighbour" not in ended.stderr
    assert (own_world.project / "made").exists()
    broken = [finding for finding in json.loads(ended.stdout) if finding["outcome"] == "broken"]
    assert broken == []
    assert (own_world.home / "checked").read_text() == "0\n"
