-- How far a deleted realm's revision had come: one that is made anew under its name goes on from there, so that nobody
-- who knows a revision takes the new realm for the old one
create table former_realm (
  name text primary key,
  revision bigint not null
);
