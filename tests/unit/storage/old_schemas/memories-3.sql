PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE facts (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, source TEXT NOT NULL,
            at TEXT NOT NULL, session_id TEXT NOT NULL, uses INTEGER NOT NULL DEFAULT 0, used_at TEXT,
            replaced_by TEXT REFERENCES facts (id), local INTEGER NOT NULL DEFAULT 0, agent TEXT NOT NULL DEFAULT '');
INSERT INTO "facts" VALUES(1,'f1','I like tea','user','2026-03-01T12:00:00.000000+00:00','',0,NULL,NULL,1,'writer');
CREATE TABLE vectors (
            method TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (method, digest))
            WITHOUT ROWID;
CREATE INDEX facts_by_successor ON facts (replaced_by) WHERE replaced_by IS NOT NULL;
COMMIT;
