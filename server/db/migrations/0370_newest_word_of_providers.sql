-- When the newest word of the provider that was taken for the person was said: an older one changes nothing any more.
alter table identity_link add column said_at timestamptz;
