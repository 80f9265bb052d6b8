-- A program that somebody signs in by without a page is known by its network and by what it says of itself, and by no cookie.
alter table known_device add column program boolean not null default false;
