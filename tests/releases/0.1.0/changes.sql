PRAGMA user_version = 1;
PRAGMA application_id = 0;
BEGIN TRANSACTION;
CREATE TABLE changes (
            number INTEGER NOT NULL UNIQUE, revision INTEGER NOT NULL, state TEXT NOT NULL, at TEXT NOT NULL,
            title TEXT NOT NULL, command TEXT NOT NULL, session_id TEXT NOT NULL, message_id TEXT NOT NULL,
            steps TEXT NOT NULL);
INSERT INTO "changes" VALUES(1,2,'applied','2026-11-16T21:36:42.554491+00:00','Append to Sleep.md › Naps','note append','','','[{"move": null, "contents": [["Sleep.md", "f63f11140ed6d7ef58bc2700c979612028dd2f9b3956fa0e98e7c2d529cb7672", "62312849484d7ccb6d6edea82e79d9e48fd2d739838d275e20ae3ea8e03771ae"]], "folders": []}]');
CREATE TABLE contents (
            digest TEXT NOT NULL UNIQUE, last_used INTEGER NOT NULL, size INTEGER NOT NULL, content TEXT NOT NULL);
INSERT INTO "contents" VALUES('f63f11140ed6d7ef58bc2700c979612028dd2f9b3956fa0e98e7c2d529cb7672',1,116,'eAEFwTEKgDAQBMD+XrGQWv8g9jYpQwohGyKEO8lFwd87ExA7eYts5enToWSB86ViGvRSotkzfEUkkdJutZI5ryIh4DhvF1mQkDHHhxPebEyYUn4k4hxL');
INSERT INTO "contents" VALUES('62312849484d7ccb6d6edea82e79d9e48fd2d739838d275e20ae3ea8e03771ae',1,136,'eAEtyDEKwzAMBdBdp/jgublD6d4lo/Eg6h8SGuQgyYXevkvf+ArWk7xE7n2eGTCyI/ihIQfsMGIf02PBSqLWx9g2srVFpBQ89QqRGyoa0r9QxD48MYz/VXT1Nx2v6amHyQ8A6SOq');
CREATE INDEX changes_by_time ON changes (at);
CREATE INDEX changes_unfinished ON changes (number) WHERE state IN ('applying', 'undoing');
CREATE INDEX contents_by_use ON contents (last_used, size);
COMMIT;
