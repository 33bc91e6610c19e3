-- The role with which pgweir reads a table's changes for a migration.
-- Run it once on the primary, as a superuser, in the database of the table:
--
--     psql -v password=… -v owner=… -f migration-role.sql app
--
-- `owner` is the role that owns the table: only owners may publish it. Allow it in pg_hba.conf of
-- every server, for ordinary and for replication connections, as monitor-role.sql says.
-- `pgweir migrate start NAME --dry-run` tells what is still missing.
CREATE ROLE pgweir_migrate LOGIN REPLICATION PASSWORD :'password';
GRANT :"owner" TO pgweir_migrate;
-- For the publication, and for the schema pgweir, where the state of migrations lies.
SELECT format('GRANT CREATE ON DATABASE %I TO pgweir_migrate', current_database()) \gexec
