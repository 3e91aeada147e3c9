"""The database: migrations, models and the reader without the ORM agree."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import IntegrityError

from hqt.db import migrations, models, rows
from hqt.db.connection import connect
from hqt.db.engine import transactions
from hqt.db.migrations import MIGRATIONS, migrate
from hqt.errors import StateError
from hqt.sandbox import SandboxPolicy, policy_of

ROW = rows.Row(
    id="1",
    name="a",
    harness="generic",
    project="/p",
    args_json="[]",
    environment_json="{}",
    variable_names_json="[]",
    binds_json="[]",
    git_json=None,
    conversation="",
    socket="/s",
    desired="running",
    created_at="2026-01-01T00:00:00+00:00",
    started_at=None,
    sandbox_json=None,
)
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


def at_version(path, version):
    connection = sqlite3.connect(path, isolation_level=None)
    for step in MIGRATIONS[:version]:
        step(connection)
    connection.execute(f"PRAGMA user_version = {version}")
    return connection


def test_migration_2_adds_the_policy_to_a_filled_database(tmp_path):
    connection = at_version(tmp_path / "db", 1)
    columns = rows.COLUMNS[: rows.COLUMNS.index("sandbox_json")]
    values = [getattr(ROW, column) for column in columns]
    connection.execute(f"INSERT INTO session ({', '.join(columns)}) VALUES ({', '.join('?' * len(values))})", values)
    connection.close()
    assert rows.read(tmp_path / "db") == [ROW]
    policy = SandboxPolicy("ro", net=False)
    with transactions(tmp_path / "db")() as transaction:
        transaction.get_one(models.Session, "1").sandbox_json = policy.to_json()
    assert policy_of(rows.read(tmp_path / "db")[0].sandbox_json) == policy


@pytest.mark.parametrize("version", range(len(MIGRATIONS)))
def test_a_migration_that_is_interrupted_leaves_the_old_state(tmp_path, version, monkeypatch):
    connection = at_version(tmp_path / "db", version)
    before = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()

    def broken(connection):
        MIGRATIONS[version](connection)
        raise KeyboardInterrupt

    monkeypatch.setattr(migrations, "MIGRATIONS", [*MIGRATIONS[:version], broken, *MIGRATIONS[version + 1 :]])
    with pytest.raises(KeyboardInterrupt):
        migrate(connection)
    assert connection.execute("PRAGMA user_version").fetchone() == (version,)
    assert connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall() == before
    connection.close()


def test_a_newer_database_is_refused(tmp_path):
    at_version(tmp_path / "db", 0).execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}").connection.close()
    with pytest.raises(StateError, match="newer hqt"):
        connect(tmp_path / "db")


def test_the_migrated_tables_are_those_of_the_models(tmp_path):
    connection = connect(tmp_path / "db")
    for model in (models.Session, models.Event):
        found = connection.execute(f"PRAGMA table_info({model.__tablename__})").fetchall()
        assert {(name, bool(required)) for _, name, _, required, _, _ in found} == {
            (column.name, not column.nullable) for column in model.__table__.columns
        }
    connection.close()


def test_the_reader_without_the_orm_reads_every_column_of_the_model():
    assert set(rows.COLUMNS) == {column.name for column in models.Session.__table__.columns}


def test_names_are_unique(tmp_path):
    with pytest.raises(IntegrityError), transactions(tmp_path / "db")() as transaction:
        transaction.add(models.Session(**_values(ROW)))
        transaction.add(models.Session(**_values(replace(ROW, id="2"))))
    assert rows.read(tmp_path / "db") == []


@settings(deadline=None, max_examples=50)
@given(name=TEXTS, project=TEXTS, args=st.lists(TEXTS))
def test_any_strings_come_back_from_the_database(tmp_path_factory, name, project, args):
    path = tmp_path_factory.mktemp("db") / "db"
    row = replace(ROW, name=name, project=project, args_json=json.dumps(args))
    with transactions(path)() as transaction:
        transaction.add(models.Session(**_values(row)))
    (found,) = rows.read(path)
    assert found == row
    assert json.loads(found.args_json) == args


def test_a_locked_database_is_told_after_the_patience_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr("hqt.db.connection.BUSY_TIMEOUT_S", 0.1)
    holder = connect(tmp_path / "db")
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StateError, match="locked"), transactions(tmp_path / "db")() as transaction:
        transaction.add(models.Session(**_values(ROW)))
    holder.close()


def test_a_folder_in_the_databases_place_is_told(tmp_path):
    (tmp_path / "db").mkdir()
    with pytest.raises(StateError):
        connect(Path(tmp_path / "db"))


def _values(row):
    return {column: getattr(row, column) for column in rows.COLUMNS}


def test_many_that_open_a_new_database_at_once_all_can(tmp_path):
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from hqt.db.connection import connect\n"
        "base, start = Path(sys.argv[1]), float(sys.argv[2])\n"
        "for number in range(40):\n"
        "    time.sleep(max(0, start + number * 0.05 - time.time()))\n"
        "    connection = connect(base / str(number) / 'db')\n"
        "    connection.execute('BEGIN IMMEDIATE')\n"
        "    connection.execute('COMMIT')\n"
        "    connection.close()\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path), str(time.time() + 1)]
    opened = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(12)]
    assert [process.communicate()[1].decode() for process in opened] == [""] * 12
