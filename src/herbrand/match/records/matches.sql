CREATE TABLE rulesheet (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE match (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  token TEXT NOT NULL UNIQUE,
  game TEXT NOT NULL,
  rulesheet TEXT NOT NULL REFERENCES rulesheet (hash),
  started REAL NOT NULL,
  ended REAL,
  status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'cut', 'aborted')),
  reason TEXT NOT NULL,
  start_clock INTEGER NOT NULL,
  play_clock INTEGER NOT NULL,
  seed TEXT,
  settings TEXT NOT NULL,
  scramble TEXT,
  names TEXT,
  opening TEXT NOT NULL,
  software TEXT NOT NULL,
  origin TEXT NOT NULL
);
CREATE INDEX match_status ON match (status);
CREATE TABLE seat (
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  role TEXT NOT NULL,
  player TEXT,
  goal INTEGER,
  PRIMARY KEY (match, place)
) WITHOUT ROWID;
CREATE TABLE step (
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  time REAL NOT NULL,
  PRIMARY KEY (match, step)
) WITHOUT ROWID;
CREATE TABLE move (
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  place INTEGER NOT NULL,
  move TEXT NOT NULL,
  percepts TEXT,
  PRIMARY KEY (match, step, place)
) WITHOUT ROWID;
CREATE TABLE message (
  number INTEGER PRIMARY KEY,
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT,
  sent REAL NOT NULL,
  seconds REAL NOT NULL,
  reply TEXT,
  counts INTEGER NOT NULL,
  problem TEXT,
  notes TEXT NOT NULL
);
CREATE INDEX message_match ON message (match);
CREATE TABLE problem (
  number INTEGER PRIMARY KEY,
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  step INTEGER NOT NULL,
  role TEXT NOT NULL,
  kind TEXT NOT NULL,
  reply TEXT,
  note TEXT NOT NULL,
  played TEXT
);
CREATE INDEX problem_match ON problem (match);
CREATE TABLE remark (
  number INTEGER PRIMARY KEY,
  match INTEGER NOT NULL REFERENCES match (number) ON DELETE CASCADE,
  time REAL NOT NULL,
  text TEXT NOT NULL
);
CREATE TABLE signature (
  match INTEGER PRIMARY KEY REFERENCES match (number) ON DELETE CASCADE,
  algorithm TEXT NOT NULL,
  public_key TEXT NOT NULL,
  value TEXT NOT NULL,
  signed REAL NOT NULL
);
