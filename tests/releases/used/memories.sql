PRAGMA user_version = 2;
PRAGMA application_id = 0;
BEGIN TRANSACTION;
CREATE TABLE facts (
            number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL, source TEXT NOT NULL,
            at TEXT NOT NULL, session_id TEXT NOT NULL, uses INTEGER NOT NULL DEFAULT 0, used_at TEXT,
            replaced_by TEXT REFERENCES facts (id), local INTEGER NOT NULL DEFAULT 0);
INSERT INTO "facts" VALUES(1,'5hjrwnkxbg75','I drink tea in the evening.','user','2026-11-17T15:47:24.809604+00:00','',0,NULL,NULL,0);
INSERT INTO "facts" VALUES(2,'f6489zwwv87k','I drink mint tea in the evening.','user','2026-11-17T15:47:25.161790+00:00','',0,NULL,NULL,0);
CREATE TABLE vectors (
            method TEXT NOT NULL, digest TEXT NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (method, digest))
            WITHOUT ROWID;
CREATE INDEX facts_by_successor ON facts (replaced_by) WHERE replaced_by IS NOT NULL;
COMMIT;
