-- A sign-in that waits for a message to be answered is found by what the message says.
create index sign_in_address on sign_in (realm_id, (state ->> 'address')) where state ? 'address';
