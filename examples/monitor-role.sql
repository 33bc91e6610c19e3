-- The role with which pgweir watches the servers: roles, positions, lag, catalogs. It reads no data.
-- Run it once on the primary, as a superuser:
--
--     psql -v password=… -f monitor-role.sql
--
-- and allow it in pg_hba.conf of every server, for ordinary and for replication connections:
--
--     host  all          pgweir  <address of pgweir>/32  scram-sha-256
--     host  replication  pgweir  <address of pgweir>/32  scram-sha-256
--
-- `pgweir check CONFIG --connect` tells what is still missing.
CREATE ROLE pgweir LOGIN PASSWORD :'password';
-- The state of the WAL receiver is shown to members only.
GRANT pg_monitor TO pgweir;
-- IDENTIFY_SYSTEM tells the timeline of a standby that receives nothing.
ALTER ROLE pgweir REPLICATION;
