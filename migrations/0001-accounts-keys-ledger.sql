-- Accounts, API keys and money. Amounts are nano-USD (1e-9 USD), times are Unix milliseconds.

CREATE TABLE accounts (
  id               TEXT NOT NULL PRIMARY KEY,
  name             TEXT NOT NULL,
  state            TEXT NOT NULL CHECK (state IN ('active', 'suspended')),
  -- Written by the ledger only, always together with the entry that explains it.
  balance_nano_usd INTEGER NOT NULL DEFAULT 0 CHECK (balance_nano_usd >= 0),
  -- How many live keys it may have; NULL: the gateway's default.
  key_limit        INTEGER CHECK (key_limit >= 0),
  created_at_ms    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id                  TEXT NOT NULL PRIMARY KEY,
  account_id          TEXT NOT NULL REFERENCES accounts (id),
  name                TEXT NOT NULL,
  -- SHA-256 of the secret, hex. The secret itself is nowhere.
  hash                TEXT NOT NULL UNIQUE,
  hint                TEXT NOT NULL,
  state               TEXT NOT NULL CHECK (state IN ('active', 'disabled', 'revoked')),
  created_at_ms       INTEGER NOT NULL,
  state_changed_at_ms INTEGER NOT NULL,
  -- To the minute; NULL: never used.
  last_used_at_ms     INTEGER,
  usage_nano_usd      INTEGER NOT NULL DEFAULT 0 CHECK (usage_nano_usd >= 0),
  -- What requests that were aborted before any output may have cost the operator.
  exposure_nano_usd   INTEGER NOT NULL DEFAULT 0 CHECK (exposure_nano_usd >= 0),
  -- Limits of the key's own; NULL: none.
  limit_nano_usd      INTEGER CHECK (limit_nano_usd >= 0),
  limit_reset         TEXT CHECK (limit_reset IN ('daily', 'weekly', 'monthly')),
  expires_at_ms       INTEGER,
  allowed_models      TEXT,
  allowed_addresses   TEXT,
  requests_per_minute INTEGER CHECK (requests_per_minute > 0),
  tokens_per_minute   INTEGER CHECK (tokens_per_minute > 0)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX api_keys_live_name ON api_keys (account_id, name) WHERE state <> 'revoked';

CREATE TABLE ledger_entries (
  id                     INTEGER PRIMARY KEY,
  account_id             TEXT NOT NULL REFERENCES accounts (id),
  kind                   TEXT NOT NULL CHECK (kind IN ('top_up', 'charge', 'refund', 'adjustment')),
  amount_nano_usd        INTEGER NOT NULL CHECK (amount_nano_usd <> 0),
  balance_after_nano_usd INTEGER NOT NULL CHECK (balance_after_nano_usd >= 0),
  -- Of a charge: its generation. Of a top-up or refund: the outside payment.
  reference              TEXT,
  note                   TEXT,
  created_at_ms          INTEGER NOT NULL,
  CHECK (kind = 'adjustment' OR (amount_nano_usd < 0) = (kind = 'charge')),
  CHECK (kind = 'adjustment' OR reference IS NOT NULL)
) STRICT;

-- One charge per generation, one credit per outside payment.
CREATE UNIQUE INDEX ledger_entries_reference ON ledger_entries (reference, kind) WHERE reference IS NOT NULL;
CREATE INDEX ledger_entries_account ON ledger_entries (account_id);

CREATE TRIGGER ledger_entries_never_change BEFORE UPDATE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are never changed'); END;
CREATE TRIGGER ledger_entries_never_go BEFORE DELETE ON ledger_entries
BEGIN SELECT RAISE(ABORT, 'ledger entries are never deleted'); END;

-- The receipt of one answered request; while it runs, the evidence so far.
CREATE TABLE generations (
  id                   TEXT NOT NULL PRIMARY KEY,
  state                TEXT NOT NULL CHECK (state IN ('running', 'settled', 'recovered')),
  account_id           TEXT NOT NULL,
  key_id               TEXT NOT NULL,
  created_at_ms        INTEGER NOT NULL,
  model_asked          TEXT NOT NULL,
  model                TEXT NOT NULL,
  provider             TEXT NOT NULL,
  streamed             INTEGER NOT NULL CHECK (streamed IN (0, 1)),
  estimated            INTEGER NOT NULL CHECK (estimated IN (0, 1)),
  prompt_tokens        INTEGER NOT NULL CHECK (prompt_tokens >= 0),
  completion_tokens    INTEGER NOT NULL CHECK (completion_tokens >= 0),
  price_nano_usd       INTEGER NOT NULL CHECK (price_nano_usd >= 0),
  charge_nano_usd      INTEGER NOT NULL CHECK (charge_nano_usd >= 0),
  -- The part of the price that the balance could not cover.
  loss_nano_usd        INTEGER NOT NULL CHECK (loss_nano_usd >= 0),
  finish_reason        TEXT,
  native_finish_reason TEXT,
  error                TEXT,
  title                TEXT,
  referer              TEXT,
  user_agent           TEXT,
  address              TEXT NOT NULL,
  latency_ms           INTEGER NOT NULL,
  ttft_ms              INTEGER,
  -- JSON: usage by class, the rates applied to it (integers as decimal strings), every attempt.
  usage                TEXT NOT NULL,
  applied              TEXT NOT NULL,
  attempts             TEXT NOT NULL
) STRICT;

CREATE INDEX generations_account ON generations (account_id, created_at_ms);
CREATE INDEX generations_key ON generations (key_id, created_at_ms);
CREATE INDEX generations_running ON generations (id) WHERE state = 'running';

-- What was charged, by UTC day of admission. Outlives the receipts.
CREATE TABLE usage_days (
  account_id        TEXT NOT NULL,
  key_id            TEXT NOT NULL,
  day               TEXT NOT NULL,
  model             TEXT NOT NULL,
  requests          INTEGER NOT NULL,
  prompt_tokens     INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  charge_nano_usd   INTEGER NOT NULL CHECK (charge_nano_usd >= 0),
  PRIMARY KEY (account_id, key_id, day, model)
) STRICT, WITHOUT ROWID;

-- One row, written to find out whether a disk that failed takes commits again.
CREATE TABLE probes (
  id            INTEGER PRIMARY KEY CHECK (id = 1),
  probed_at_ms  INTEGER NOT NULL
) STRICT;
