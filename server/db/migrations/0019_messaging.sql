-- Messaging: who sends messages, and what they say.
create table messaging_provider (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  channel text not null check (channel in ('EMAIL', 'SMS', 'PUSH')),
  driver text not null,
  enabled boolean not null default true,
  from_address text,
  from_name text,
  config jsonb not null default '{}',
  -- sealed: it must be read again to send
  secret bytea,
  created_at timestamptz not null,
  primary key (realm_id, id)
);
create unique index messaging_provider_driver on messaging_provider (realm_id, channel, driver);

-- the built-in ones are inserted when a realm is made, and into older realms when the server starts
create table message_template (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  template_key text not null,
  channel text not null check (channel in ('EMAIL', 'SMS', 'PUSH')),
  locale text not null,
  subject text,
  content text not null,
  html boolean not null default false,
  enabled boolean not null default true,
  primary key (realm_id, id)
);
create unique index message_template_key on message_template (realm_id, template_key, channel, locale);
