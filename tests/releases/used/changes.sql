PRAGMA user_version = 1;
PRAGMA application_id = 0;
BEGIN TRANSACTION;
CREATE TABLE changes (
            number INTEGER NOT NULL UNIQUE, revision INTEGER NOT NULL, state TEXT NOT NULL, at TEXT NOT NULL,
            title TEXT NOT NULL, command TEXT NOT NULL, session_id TEXT NOT NULL, message_id TEXT NOT NULL,
            steps TEXT NOT NULL);
INSERT INTO "changes" VALUES(1,2,'applied','2026-11-17T15:47:25.713839+00:00','Append to Sleep.md › Naps','note append','','','[{"move": null, "contents": [["Sleep.md", "01c0c27285f8b590bce379bbf5fa4ce89e227d720a21b55ac44d6ebb41a5b9d3", "f8b6cf7e628c23c22f2adfe675f9ea186925b3fb7e54fa50bae0d0f7e872a7fe"]], "folders": []}]');
INSERT INTO "changes" VALUES(2,2,'applied','2026-11-17T15:47:26.070238+00:00','Rename Old plan.md to Plan.md','note rename','','','[{"move": ["Old plan.md", "Plan.md"], "contents": [], "folders": []}]');
INSERT INTO "changes" VALUES(3,4,'undone','2026-11-17T15:47:26.322291+00:00','Append to Coffee.md','note append','','','[{"move": null, "contents": [["Coffee.md", "a42e53070f5e95b27f9841d3e45b8ac5e997c007be03c1a62feba29f94ef9faa", "ff29a9fb7ce3c7f46a3f8ad7d0bc1beae2be7bd4aff63dc8487e82bced8aa4b0"]], "folders": []}]');
CREATE TABLE contents (
            digest TEXT NOT NULL UNIQUE, last_used INTEGER NOT NULL, size INTEGER NOT NULL, content TEXT NOT NULL);
INSERT INTO "contents" VALUES('01c0c27285f8b590bce379bbf5fa4ce89e227d720a21b55ac44d6ebb41a5b9d3',1,156,'eAEVyjEKAyEQBdB+TvHB2j1AupA+jaVYSPa7CqKLMxvI7ZO0j+e9F8uH3hBHO6olyb1l5R/Cq/ZckvjfcQidPEXu+9VNMcgdyjcHbGK0QdR5Ld0QSMT4mKWQKW0izuGZTxXxiEiw9UGG1rkMc1C+fe4ooQ==');
INSERT INTO "contents" VALUES('f8b6cf7e628c23c22f2adfe675f9ea186925b3fb7e54fa50bae0d0f7e872a7fe',1,172,'eAEtyrEKwjAUBdD9fcWFzukHuIm7S8eQ4WFvm2BISt6r4N+r4Ho4IQRx3e2C2MqePYnWosYfLI9cdUsSvmfCUslD5Lqe1Q2NXGF8scE7WmlE7uewGQuJGG9928iUZpFpwl0PEwmISPDxhsJyH47e+FfFquPJgcc5XEuTD3W+MAA=');
INSERT INTO "contents" VALUES('a42e53070f5e95b27f9841d3e45b8ac5e997c007be03c1a62feba29f94ef9faa',3,96,'eAHT1dXlKklML7ZSiE4pyszLjuXSBYooKzjnp6WlpnJxhWSkKuQkFpcoJJcWKGQWKySWKOTnpSrkqyfn5Cdn63EBAF1dE08=');
INSERT INTO "contents" VALUES('ff29a9fb7ce3c7f46a3f8ad7d0bc1beae2be7bd4aff63dc8487e82bced8aa4b0',3,116,'eAENyDEOgCAMBdC9p/iJgxMcwFWP4GYcmtoKgYABvL++8TnnaPDdFxxXiyWd5P6ZsFYzVaI9KDL3AXkfxA4eqEVRZ8lVkifaVNjANrQhv0WCpw8jmRnQ');
CREATE INDEX changes_by_time ON changes (at);
CREATE INDEX changes_unfinished ON changes (number) WHERE state IN ('applying', 'undoing');
CREATE INDEX contents_by_use ON contents (last_used, size);
COMMIT;
