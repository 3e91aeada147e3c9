"""Attacks that write outside the project, over a guard, or into a project that is read-only."""

from tests.attacks.attack import Attack


def planted(*places):
    """Return what looks for something planted at places of the host."""
    return lambda world: [
        place for place in places if (world.base / place).exists() or (world.base / place).is_symlink()
    ]


def changed(*places):
    """Return what looks whether files of the host have still the text that they were made with."""
    return lambda world: [
        place
        for place in places
        if not (world.base / place).exists() or "planted\n" in (world.base / place).read_text()
    ]


PROJECT = "home/project"
WRITING = [
    Attack("a_file_in_the_home_folder", "echo planted > ~/planted-file", planted("home/planted-file"), naive=False),
    Attack("usr", "(echo planted > /usr/planted) 2>/dev/null && echo BREACH", naive=False),
    Attack("etc", "(echo planted > /etc/planted) 2>/dev/null && echo BREACH"),
    Attack(
        "a_file_of_etc",
        "for file in passwd group nsswitch.conf ld.so.cache hosts; do"
        " (echo planted >> /etc/$file) 2>/dev/null && echo BREACH;"
        " chmod 666 /etc/$file 2>/dev/null && echo BREACH;"
        " mv /etc/$file /etc/moved 2>/dev/null && echo BREACH; done",
        naive=False,
    ),
    Attack("the_root", "(echo planted > /planted) 2>/dev/null && echo BREACH"),
    Attack(
        "the_project_when_it_is_read_only",
        "echo planted > in-project",
        planted(f"{PROJECT}/in-project"),
        needs_read_only=True,
    ),
    Attack("beside_the_project", "echo planted > ../planted-beside", planted("home/planted-beside"), naive=False),
    Attack("another_project", "echo planted > ~/other-project/new", planted("home/other-project/new"), naive=False),
    Attack("through_a_link_in_the_project", "echo planted >> link-to-bashrc", changed("home/.bashrc"), naive=False),
    Attack(
        "through_a_hard_link_to_a_guard",
        "ln .git/config copy && echo '# planted' >> copy",
        changed(f"{PROJECT}/.git/config"),
    ),
    Attack(
        "through_proc_self_root", "echo planted >> /proc/self/root$HOME/.bashrc", changed("home/.bashrc"), naive=False
    ),
    Attack("through_proc_of_pid_1", "echo planted >> /proc/1/root$HOME/.bashrc", changed("home/.bashrc"), naive=False),
    Attack("through_oldroot", "ls /oldroot /newroot 2>/dev/null | grep -q . && echo BREACH", naive=False),
    Attack(
        "the_hosts_shared_memory", "echo planted > /dev/shm/hqt-planted", planted("/dev/shm/hqt-planted"), naive=False
    ),
    Attack(
        "the_hosts_tmp",
        "echo planted > /tmp/hqt-planted; echo planted > /var/tmp/hqt-planted",
        planted("/tmp/hqt-planted", "/var/tmp/hqt-planted"),
        naive=False,
    ),
    Attack("device_nodes", "(echo planted > /dev/planted) 2>/dev/null && echo BREACH"),
    Attack("remounting_a_guard", "mount -o remount,rw,bind .git/config 2>/dev/null && echo BREACH", naive=False),
    Attack(
        "unmounting_a_guard",
        "umount .git/config 2>/dev/null && echo '# planted' >> .git/config",
        changed(f"{PROJECT}/.git/config"),
        naive=False,
    ),
    Attack("mounting_over_a_guard", "mount --bind /tmp .git/hooks 2>/dev/null && echo BREACH", naive=False),
    Attack(
        "moving_a_file_over_a_guard",
        "cp .git/config c; echo '# planted' >> c; mv -f c .git/config",
        changed(f"{PROJECT}/.git/config"),
    ),
    Attack("the_harnesss_folder_renamed_away", "mv ~/.claude ~/.claude2 2>/dev/null && echo BREACH", naive=False),
    Attack("the_project_renamed_away", "cd ..; mv project project2", planted("home/project2"), naive=False),
    Attack("changing_modes_of_a_guard", "chmod 777 .git/hooks 2>/dev/null && echo BREACH"),
    Attack(
        "filling_the_home_folders_memory", "head -c 1100M /dev/zero > ~/big 2>/dev/null && echo BREACH; rm -f ~/big"
    ),
]
