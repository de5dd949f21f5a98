PRAGMA user_version = 4;
BEGIN TRANSACTION;
CREATE TABLE doomed (session_id TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE entries (
            session_id TEXT NOT NULL REFERENCES sessions (id), sequence INTEGER NOT NULL, kind TEXT NOT NULL,
            role TEXT, message_id TEXT, parent_id TEXT, title TEXT, at TEXT NOT NULL, body TEXT NOT NULL,
            UNIQUE (session_id, sequence));
INSERT INTO "entries" VALUES('s1',1,'title',NULL,NULL,NULL,'Tea','2026-03-01T12:00:00.000000+00:00','{"kind":"title","title":"Tea"}');
INSERT INTO "entries" VALUES('s1',2,'message','user','m1',NULL,NULL,'2026-03-01T12:00:00.000000+00:00','{"kind":"message","message":{"id":"m1","role":"user","parts":[{"kind":"text","text":"I like tea."}],"created_at":"2026-03-01T12:00:00Z"}}');
CREATE TABLE request_items (
            session_id TEXT NOT NULL, number INTEGER NOT NULL, item TEXT NOT NULL, UNIQUE (session_id, number));
CREATE TABLE sessions (
            id TEXT PRIMARY KEY, title TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
            message_count INTEGER NOT NULL, listed INTEGER NOT NULL DEFAULT 1, first_words TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '');
INSERT INTO "sessions" VALUES('s1','Tea','2026-03-01T12:00:00.000000+00:00','2026-03-01T12:00:00.000000+00:00',1,1,'I like tea.','');
CREATE INDEX entries_by_message ON entries (session_id, message_id, sequence, kind, role, at)
            WHERE message_id IS NOT NULL;
CREATE TRIGGER entries_stay_as_written BEFORE UPDATE ON entries
            BEGIN SELECT RAISE (ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_stay BEFORE DELETE ON entries
            WHEN NOT EXISTS (SELECT 1 FROM doomed WHERE session_id = OLD.session_id)
            BEGIN SELECT RAISE (ABORT, 'entries are append-only'); END;
CREATE TRIGGER sessions_follow_entries AFTER INSERT ON entries BEGIN
            UPDATE sessions SET
                updated_at = MAX (updated_at, NEW.at),
                title = COALESCE (NEW.title, title),
                message_count = message_count + (NEW.kind = 'message' AND NOT EXISTS (
                    SELECT 1 FROM entries WHERE session_id = NEW.session_id AND message_id = NEW.message_id
                        AND kind = 'message' AND sequence <> NEW.sequence))
            WHERE id = NEW.session_id; END;
CREATE TRIGGER request_items_stay_as_written BEFORE UPDATE ON request_items
            BEGIN SELECT RAISE (ABORT, 'items are append-only'); END;
CREATE TRIGGER request_items_stay BEFORE DELETE ON request_items
            WHEN NOT EXISTS (SELECT 1 FROM doomed WHERE session_id = OLD.session_id)
            BEGIN SELECT RAISE (ABORT, 'items are append-only'); END;
COMMIT;
