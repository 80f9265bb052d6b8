-- Which audience a client's assertions may have; null: the realm's setting decides.
alter table client add column client_assertion_audience text
  check (client_assertion_audience in ('issuer', 'endpoints'));
