"""The database: models and their engine for writing, plain SQL for reading fast, migrations for both."""
