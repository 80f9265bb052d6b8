-- When the sign-in began: what was set up since then goes when its person says that it was not them. Null: an older replica told of
-- it, seven days before the link ends. Its browser is one of those since then: device_hash is written by older replicas alone.
alter table sign_in_report add column begun_at timestamptz;
