PRAGMA user_version = 3;
PRAGMA application_id = 0;
BEGIN TRANSACTION;
CREATE TABLE doomed (session_id TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE entries (
            session_id TEXT NOT NULL REFERENCES sessions (id), sequence INTEGER NOT NULL, kind TEXT NOT NULL,
            role TEXT, message_id TEXT, parent_id TEXT, title TEXT, at TEXT NOT NULL, body TEXT NOT NULL,
            UNIQUE (session_id, sequence));
INSERT INTO "entries" VALUES('y0mqqhf39ahj',1,'listing',NULL,NULL,NULL,NULL,'2026-11-16T21:36:41.709778+00:00','{"kind":"listing","listed":false}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',2,'title',NULL,NULL,NULL,'How many hours of sleep do adults need?','2026-11-16T21:36:41.709778+00:00','{"kind":"title","title":"How many hours of sleep do adults need?"}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',3,'message','user','g839qpyf8v44',NULL,NULL,'2026-11-16T21:36:41.709778+00:00','{"kind":"message","message":{"id":"g839qpyf8v44","session_id":"y0mqqhf39ahj","role":"user","parts":[{"kind":"text","text":"How many hours of sleep do adults need?"}],"created_at":"2026-11-16T21:36:41.709686Z"}}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',4,'message','user','g839qpyf8v44',NULL,NULL,'2026-11-16T21:36:42.080904+00:00','{"kind":"message","message":{"id":"g839qpyf8v44","session_id":"y0mqqhf39ahj","role":"user","parts":[{"kind":"text","text":"How many hours of sleep do adults need?"},{"kind":"evidence","evidence":[{"text":"Adults need seven to nine hours. See [[Coffee]].","relative_path":"Sleep.md","title":"Sleep","wikilink":"[[Sleep]]","heading":"","lines":{"first":3,"last":3},"score":0.7562,"linked":false,"date":null,"outdated_by":"","outdates":[]}],"nearest":[],"is_doubtful":false,"excerpts":[],"listing":null,"remark":""}],"created_at":"2026-11-16T21:36:41.709686Z","token_count":12,"augmented_token_count":36}}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',5,'content',NULL,NULL,NULL,NULL,'2026-11-16T21:36:42.095690+00:00','{"kind":"content","digest":"788600a5c1c4c929","text":"You answer questions about the user''s notes in one sentence, in the words of the notes."}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',6,'message','assistant','prr3aq450phk','g839qpyf8v44',NULL,'2026-11-16T21:36:42.095690+00:00','{"kind":"message","message":{"id":"prr3aq450phk","session_id":"y0mqqhf39ahj","parent_id":"g839qpyf8v44","role":"assistant","parts":[{"kind":"text","text":"> Adults need seven to nine hours. See [[Coffee]].\n\n— [[Sleep]]\n"}],"references":[{"wikilink":"[[Sleep]]","relative_path":"Sleep.md","reference_type":"search","via":"evidence","title":"Sleep","lines":{"first":3,"last":3},"snippet":"Adults need seven to nine hours. See [[Coffee]].","score":0.7562,"summary":"Adults need seven to nine hours. See Coffee.","included":true,"cited":true}],"created_at":"2026-11-16T21:36:42.085599Z","finished_at":"2026-11-16T21:36:42.095521Z","provider":"quote","token_count":19,"request_context":{"agent":"default","can_read":false,"items":"0-1,2=0.7562","left_out":[],"usage":{"system":30,"tools":0,"messages":26,"memory":0,"references":14,"images":0,"window":4096,"reserve":512,"threshold":0.85,"estimated":true,"counted":70,"traits":{"messages":2},"budgets":{"system":{"used":30,"limit":358},"tools":{"used":0,"limit":1075},"messages":{"used":40,"limit":3553},"memory":{"used":0,"limit":819}}}}}}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',7,'model',NULL,NULL,NULL,NULL,'2026-11-16T21:36:42.104819+00:00','{"kind":"model","name":"quote","model":"quote","window":4096,"on_this_machine":true,"chosen":false}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',8,'listing',NULL,NULL,NULL,NULL,'2026-11-16T21:36:42.204781+00:00','{"kind":"listing","listed":true}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',9,'message','user','hhw6rv4npqcg','prr3aq450phk',NULL,'2026-11-16T21:36:42.204781+00:00','{"kind":"message","message":{"id":"hhw6rv4npqcg","session_id":"y0mqqhf39ahj","parent_id":"prr3aq450phk","role":"user","parts":[{"kind":"text","text":"When is the last cup of coffee?"}],"created_at":"2026-11-16T21:36:42.204725Z"}}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',10,'message','user','hhw6rv4npqcg','prr3aq450phk',NULL,'2026-11-16T21:36:42.262642+00:00','{"kind":"message","message":{"id":"hhw6rv4npqcg","session_id":"y0mqqhf39ahj","parent_id":"prr3aq450phk","role":"user","parts":[{"kind":"text","text":"When is the last cup of coffee?"},{"kind":"evidence","evidence":[{"text":"The last cup is at one o''clock.","relative_path":"Coffee.md","title":"Coffee","wikilink":"[[Coffee]]","heading":"","lines":{"first":6,"last":6},"score":0.7613,"linked":false,"date":null,"outdated_by":"","outdates":[]}],"nearest":[],"is_doubtful":false,"excerpts":[],"listing":null,"remark":""}],"created_at":"2026-11-16T21:36:42.204725Z","token_count":9,"augmented_token_count":29}}');
INSERT INTO "entries" VALUES('y0mqqhf39ahj',11,'message','assistant','v490t4g9vnts','hhw6rv4npqcg',NULL,'2026-11-16T21:36:42.271808+00:00','{"kind":"message","message":{"id":"v490t4g9vnts","session_id":"y0mqqhf39ahj","parent_id":"hhw6rv4npqcg","role":"assistant","parts":[{"kind":"text","text":"> The last cup is at one o''clock.\n\n— [[Coffee]]\n"}],"references":[{"wikilink":"[[Coffee]]","relative_path":"Coffee.md","reference_type":"search","via":"evidence","title":"Coffee","lines":{"first":6,"last":6},"snippet":"The last cup is at one o''clock.","score":0.7613,"summary":"The last cup is at one o''clock.","included":true,"cited":true}],"created_at":"2026-11-16T21:36:42.269516Z","finished_at":"2026-11-16T21:36:42.271680Z","provider":"quote","token_count":15,"request_context":{"agent":"default","can_read":false,"items":"0,3,4=0.7613","left_out":[],"usage":{"system":30,"tools":0,"messages":24,"memory":0,"references":9,"images":0,"window":4096,"reserve":512,"threshold":0.85,"estimated":true,"counted":63,"traits":{"messages":2},"budgets":{"system":{"used":30,"limit":358},"tools":{"used":0,"limit":1075},"messages":{"used":33,"limit":3553},"memory":{"used":0,"limit":819}}}}}}');
CREATE TABLE request_items (
            session_id TEXT NOT NULL, number INTEGER NOT NULL, item TEXT NOT NULL, UNIQUE (session_id, number));
INSERT INTO "request_items" VALUES('y0mqqhf39ahj',0,'{"type":"system","name":"default","tokens":26,"digest":"788600a5c1c4c929"}');
INSERT INTO "request_items" VALUES('y0mqqhf39ahj',1,'{"type":"message","name":"g839qpyf8v44","tokens":40}');
INSERT INTO "request_items" VALUES('y0mqqhf39ahj',2,'{"type":"evidence","name":"Sleep.md","include":"agent","tokens":14,"digest":"a5547864bdcc9ff5","reason":"answers the question","part_of":"g839qpyf8v44"}');
INSERT INTO "request_items" VALUES('y0mqqhf39ahj',3,'{"type":"message","name":"hhw6rv4npqcg","tokens":33}');
INSERT INTO "request_items" VALUES('y0mqqhf39ahj',4,'{"type":"evidence","name":"Coffee.md","include":"agent","tokens":9,"digest":"e1fe798d87c52d18","reason":"answers the question","part_of":"hhw6rv4npqcg"}');
CREATE TABLE sessions (
            id TEXT PRIMARY KEY, title TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
            message_count INTEGER NOT NULL, listed INTEGER NOT NULL DEFAULT 1, first_words TEXT NOT NULL DEFAULT '', model TEXT NOT NULL DEFAULT '');
INSERT INTO "sessions" VALUES('y0mqqhf39ahj','How many hours of sleep do adults need?','2026-11-16T21:36:41.701395+00:00','2026-11-16T21:36:42.271808+00:00',4,1,'How many hours of sleep do adults need?','quote');
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
COMMIT;
