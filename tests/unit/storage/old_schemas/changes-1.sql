PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE changes (
            number INTEGER NOT NULL UNIQUE, revision INTEGER NOT NULL, state TEXT NOT NULL, at TEXT NOT NULL,
            title TEXT NOT NULL, command TEXT NOT NULL, session_id TEXT NOT NULL, message_id TEXT NOT NULL,
            steps TEXT NOT NULL);
INSERT INTO "changes" VALUES(1,2,'applied','2026-03-01T12:00:00.000000+00:00','Append to Tea.md','note append','','','[{"move": null, "contents": [["Tea.md", "3f91c4de5f51ea8c07491723ab5e84ef2ed831b365f1e0fca86dd069e50bbdcb", "a1826a1b123e58e84ea6d4fb80f4cd873c29ca63ed1275249ffaf20cb7aced8a"]], "folders": []}]');
CREATE TABLE contents (
            digest TEXT NOT NULL UNIQUE, last_used INTEGER NOT NULL, size INTEGER NOT NULL, content TEXT NOT NULL);
INSERT INTO "contents" VALUES('3f91c4de5f51ea8c07491723ab5e84ef2ed831b365f1e0fca86dd069e50bbdcb',1,20,'eJzzVMjJzE4FAAaCAg8=');
INSERT INTO "contents" VALUES('a1826a1b123e58e84ea6d4fb80f4cd873c29ca63ed1275249ffaf20cb7aced8a',1,28,'eJzzVMjJzE5VKElN1AMAFVwDlw==');
CREATE INDEX changes_by_time ON changes (at);
CREATE INDEX changes_unfinished ON changes (number) WHERE state IN ('applying', 'undoing');
CREATE INDEX contents_by_use ON contents (last_used, size);
COMMIT;
