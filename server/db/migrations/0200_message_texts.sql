-- What a realm's pages say in its own words, by language.
create table message_text (
  realm_id text not null references realm on delete cascade,
  id uuid not null,
  locale text not null,
  texts jsonb not null,
  primary key (realm_id, id)
);
create unique index message_text_locale on message_text (realm_id, locale);
