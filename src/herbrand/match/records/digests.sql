CREATE TABLE digest (
  kind TEXT NOT NULL,
  number INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, number)
) WITHOUT ROWID;
