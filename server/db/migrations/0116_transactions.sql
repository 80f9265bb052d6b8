-- What applications let people confirm on their devices: the text that is shown is the text that is signed.
create table device_transaction (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  user_id uuid not null,
  client uuid not null,
  text text not null,
  amount text,
  currency text,
  payee text,
  challenge text not null,
  status text not null check (status in ('waiting', 'signed', 'denied', 'consumed', 'void')),
  -- What the device signed, and the key that it did so with: they prove it when the device is gone.
  signature text,
  device_key jsonb,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  consumed_at timestamptz,
  primary key (realm_id, id),
  foreign key (realm_id, user_id) references realm_user on delete cascade,
  foreign key (realm_id, client) references client on delete cascade
);
create index device_transaction_user on device_transaction (realm_id, user_id, created_at);
create index device_transaction_client on device_transaction (realm_id, client);
create index device_transaction_expiry on device_transaction (expires_at);
