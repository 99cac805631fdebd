"""Environment of alembic: runs revisions on the connection that ``schema.migrate`` passes."""

from alembic import context

with_connection = context.config.attributes
context.configure(
    connection=with_connection["connection"],
    version_table=with_connection["version_table"],
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
