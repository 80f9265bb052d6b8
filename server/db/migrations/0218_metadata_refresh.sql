-- When a SAML client's metadata was last fetched by itself, and what was wrong with it then.
alter table saml_client add column metadata_tried_at timestamptz;
alter table saml_client add column metadata_error text;
create index saml_client_metadata on saml_client (metadata_tried_at nulls first) where metadata_url is not null;
