CREATE TABLE worker (
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  name TEXT NOT NULL,
  PRIMARY KEY (match, name)
) WITHOUT ROWID;
CREATE TABLE purged (
  number INTEGER PRIMARY KEY,
  time REAL NOT NULL,
  worker TEXT NOT NULL,
  match TEXT NOT NULL,
  reason TEXT NOT NULL,
  record TEXT
);
