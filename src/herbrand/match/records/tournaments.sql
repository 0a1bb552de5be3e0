CREATE TABLE tournament (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  created REAL NOT NULL,
  plan TEXT NOT NULL
);
CREATE TABLE pairing (
  number INTEGER PRIMARY KEY,
  tournament INTEGER NOT NULL REFERENCES tournament (number) ON DELETE CASCADE,
  round INTEGER NOT NULL,
  encounter INTEGER NOT NULL,
  leg INTEGER NOT NULL,
  game TEXT NOT NULL,
  players TEXT NOT NULL,
  seats TEXT NOT NULL,
  seed TEXT NOT NULL,
  id TEXT UNIQUE,
  match INTEGER UNIQUE REFERENCES match (number),
  attempts INTEGER NOT NULL DEFAULT 0,
  failure TEXT,
  UNIQUE (tournament, round, encounter, leg)
);
